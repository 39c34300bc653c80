// SPDX-License-Identifier: Apache-2.0
// For tests: small shared objects made byte by byte.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace colibri::plugin {

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// A note as the linker writes it, padded to multiples of 4.
inline std::string made_up_note(std::string owner, std::string_view description) {
  owner.push_back('\0');
  const auto padded = [](std::string text) {
    text.resize((text.size() + 3) / 4 * 4);
    return text;
  };
  const Elf64_Nhdr header = {static_cast<Elf64_Word>(owner.size()),
                             static_cast<Elf64_Word>(description.size()), 1};
  return bytes_of(header) + padded(owner) + padded(std::string(description));
}

struct MadeUpElf {
  Elf64_Half machine = EM_X86_64;
  Elf64_Half type = ET_DYN;
  std::vector<std::string> segments;  // notes found through program headers
  std::vector<std::string> sections;  // notes found through section headers

  std::string bytes() const {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = type;
    header.e_machine = machine;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(segments.size());
    header.e_phoff = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    header.e_shoff = header.e_phoff + segments.size() * sizeof(Elf64_Phdr);

    std::string tables;
    std::string notes;
    const uint64_t notes_begin = header.e_shoff + sections.size() * sizeof(Elf64_Shdr);
    for (const std::string& segment : segments) {
      Elf64_Phdr entry = {};
      entry.p_type = PT_NOTE;
      entry.p_offset = notes_begin + notes.size();
      entry.p_filesz = segment.size();
      entry.p_align = 4;
      tables += bytes_of(entry);
      notes += segment;
    }
    for (const std::string& section : sections) {
      Elf64_Shdr entry = {};
      entry.sh_type = SHT_NOTE;
      entry.sh_offset = notes_begin + notes.size();
      entry.sh_size = section.size();
      entry.sh_addralign = 4;
      tables += bytes_of(entry);
      notes += section;
    }
    return bytes_of(header) + tables + notes;
  }
};

}  // namespace colibri::plugin
