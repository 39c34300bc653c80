// SPDX-License-Identifier: Apache-2.0
// System V ABI, chapters 4 and 5 (ELF64 file layout, notes).
#include "runtime/plugin/elf_note.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

#include "runtime/plugin/manifest.h"

namespace colibri::plugin {
namespace {

constexpr uint64_t kMostNoteBytes =
    1 << 16;  // of one segment; ours and the compiler's take a few hundred
constexpr char kOwner[] = "COLIBRI";

struct Extent {
  uint64_t offset, bytes, alignment;
};

class NoteReader {
 public:
  NoteReader(uint64_t file_size, ReadAt read) : file_size_(file_size), read_(read) {}

  Status read_header() {
    if (file_size_ < sizeof(header_)) return corrupt_data("not an ELF file: it is too short");
    COLIBRI_TRY(read_(0, &header_, sizeof(header_)));
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return corrupt_data("not an ELF file");
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB) {
      return corrupt_data("not a 64-bit little-endian ELF file");
    }
    if (header_.e_type != ET_DYN) return corrupt_data("not a shared object");
    return {};
  }

  std::string architecture() const {
    if (header_.e_machine == EM_X86_64) return "x86_64";
    if (header_.e_machine == EM_AARCH64) return "aarch64";
    return "machine " + std::to_string(header_.e_machine);
  }

  // Looks through the note segments, then, because tools have been seen to drop those, through the
  // note sections.
  Result<std::string> find() {
    COLIBRI_ASSIGN(const auto segments,
                   table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum, header_.e_phentsize));
    COLIBRI_ASSIGN(const auto sections,
                   table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum, header_.e_shentsize));
    for (const Elf64_Phdr& segment : segments) {
      // The loader maps what a truncated file lacks, and the process dies when it is touched.
      if (segment.p_type == PT_LOAD && !inside(segment.p_offset, segment.p_filesz)) {
        return corrupt_data("damaged ELF file: it is truncated");
      }
    }
    COLIBRI_TRY(search(segments));
    if (!found_) COLIBRI_TRY(search(sections));
    if (!found_) return not_found("no Colibri manifest in it (docs/writing-a-plugin.md)");
    return *std::move(found_);
  }

 private:
  bool inside(uint64_t offset, uint64_t bytes) const {
    return offset <= file_size_ && bytes <= file_size_ - offset;
  }

  static std::optional<Extent> notes_of(const Elf64_Phdr& segment) {
    if (segment.p_type != PT_NOTE) return std::nullopt;
    return Extent{segment.p_offset, segment.p_filesz, segment.p_align};
  }
  static std::optional<Extent> notes_of(const Elf64_Shdr& section) {
    if (section.sh_type != SHT_NOTE) return std::nullopt;
    return Extent{section.sh_offset, section.sh_size, section.sh_addralign};
  }

  template <typename Header>
  Result<std::vector<Header>> table(uint64_t offset, uint64_t count, uint64_t entry_size) {
    std::vector<Header> headers(count);
    if (count == 0) return headers;
    if (entry_size != sizeof(Header) || !inside(offset, count * sizeof(Header))) {
      return corrupt_data("damaged ELF file: a header table lies outside it");
    }
    COLIBRI_TRY(read_(offset, headers.data(), count * sizeof(Header)));
    return headers;
  }

  template <typename Header>
  Status search(const std::vector<Header>& headers) {
    for (const Header& header : headers) {
      if (const auto extent = notes_of(header)) COLIBRI_TRY(search_notes(*extent));
    }
    return {};
  }

  Status search_notes(const Extent& extent) {
    if (!inside(extent.offset, extent.bytes)) {
      return corrupt_data("damaged ELF file: notes lie outside it");
    }
    if (extent.bytes > kMostNoteBytes) return corrupt_data("damaged ELF file: notes are too long");
    if (extent.bytes == 0) return {};
    std::vector<char> bytes(extent.bytes);
    COLIBRI_TRY(read_(extent.offset, bytes.data(), extent.bytes));

    const uint64_t alignment = extent.alignment == 8 ? 8 : 4;
    const auto aligned = [&](uint64_t n) { return (n + alignment - 1) / alignment * alignment; };
    uint64_t at = 0;
    while (bytes.size() - at >= sizeof(Elf64_Nhdr)) {
      Elf64_Nhdr note;
      std::memcpy(&note, bytes.data() + at, sizeof(note));
      // 32-bit sizes: the sums cannot overflow 64 bits.
      const uint64_t name = at + sizeof(note);
      const uint64_t description = aligned(name + note.n_namesz);
      const uint64_t end = description + note.n_descsz;
      if (end > bytes.size())
        return corrupt_data("damaged ELF file: a note is longer than its segment");
      const bool ours = note.n_namesz == sizeof(kOwner) &&
                        std::memcmp(bytes.data() + name, kOwner, sizeof(kOwner)) == 0;
      if (ours) {
        if (found_) return corrupt_data("two manifests in one file");
        if (note.n_descsz > kManifestBytes) {
          return corrupt_data("the manifest is longer than " + std::to_string(kManifestBytes) +
                              " bytes");
        }
        found_ = std::string(bytes.data() + description, note.n_descsz);
      }
      at = std::min<uint64_t>(aligned(end), bytes.size());
    }
    return {};
  }

  const uint64_t file_size_;
  const ReadAt read_;
  Elf64_Ehdr header_ = {};
  std::optional<std::string> found_;
};

}  // namespace

Result<ElfNote> read_elf_note(uint64_t file_size, ReadAt read) {
  NoteReader reader(file_size, read);
  COLIBRI_TRY(reader.read_header());
  COLIBRI_ASSIGN(std::string text, reader.find());
  return ElfNote{reader.architecture(), std::move(text)};
}

}  // namespace colibri::plugin
