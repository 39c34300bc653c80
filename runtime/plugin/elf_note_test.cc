// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/elf_note.h"

#include <gtest/gtest.h>

#include "runtime/base/file.h"
#include "runtime/plugin/made_up_elf.h"

namespace colibri::plugin {
namespace {

Result<ElfNote> read(const std::string& file) {
  return read_elf_note(file.size(), [&](uint64_t offset, void* to, uint64_t n) -> Status {
    if (offset > file.size() || n > file.size() - offset) {
      ADD_FAILURE() << "a read outside the file at " << offset << " of " << n;
      return io_error("outside");
    }
    std::memcpy(to, file.data() + offset, n);
    return {};
  });
}

MadeUpElf plugin_file() {
  MadeUpElf elf;
  elf.segments = {made_up_note("GNU", "build id"), made_up_note("COLIBRI", "{\"id\":1}")};
  return elf;
}

TEST(ElfNoteTest, FindsTheNoteInSegments) {
  const Result<ElfNote> note = read(plugin_file().bytes());
  ASSERT_TRUE(note.ok()) << note.status().text();
  EXPECT_EQ(note->text, "{\"id\":1}");
  EXPECT_EQ(note->architecture, "x86_64");
}

TEST(ElfNoteTest, FindsTheNoteBehindOthersInOneSegment) {
  MadeUpElf elf;
  elf.segments = {made_up_note("GNU", "abc") + made_up_note("COLIBRI", "x")};
  EXPECT_EQ(read(elf.bytes())->text, "x");
}

TEST(ElfNoteTest, FallsBackToSections) {
  MadeUpElf elf;
  elf.segments = {made_up_note("GNU", "build id")};
  elf.sections = {made_up_note("COLIBRI", "in a section")};
  EXPECT_EQ(read(elf.bytes())->text, "in a section");
}

TEST(ElfNoteTest, NamesTheMachine) {
  MadeUpElf elf = plugin_file();
  elf.machine = EM_AARCH64;
  EXPECT_EQ(read(elf.bytes())->architecture, "aarch64");
  elf.machine = EM_RISCV;
  EXPECT_EQ(read(elf.bytes())->architecture, "machine 243");
}

TEST(ElfNoteTest, RefusesByName) {
  struct Case {
    std::string file;
    const char* text;
  };
  MadeUpElf executable = plugin_file();
  executable.type = ET_EXEC;
  MadeUpElf twice = plugin_file();
  twice.segments.push_back(made_up_note("COLIBRI", "again"));
  MadeUpElf none;
  none.segments = {made_up_note("GNU", "build id"), made_up_note("COLIBRIX", "x")};
  MadeUpElf too_long;
  too_long.segments = {made_up_note("COLIBRI", std::string(4097, ' '))};
  std::string class32 = plugin_file().bytes();
  class32[EI_CLASS] = ELFCLASS32;
  std::string far_table = plugin_file().bytes();
  far_table.replace(offsetof(Elf64_Ehdr, e_phoff), 8, "\xf0\xff\xff\xff\xff\xff\xff\xff", 8);
  std::string far_segment = plugin_file().bytes();
  far_segment.replace(sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_offset), 8,
                      "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  std::string long_note = plugin_file().bytes();
  const size_t note = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  long_note.replace(note + offsetof(Elf64_Nhdr, n_descsz), 4, "\xff\xff\xff\xff", 4);
  const Case cases[] = {
      {"", "not an ELF file: it is too short"},
      {std::string(100, 'x'), "not an ELF file"},
      {class32, "not a 64-bit little-endian ELF file"},
      {executable.bytes(), "not a shared object"},
      {twice.bytes(), "two manifests in one file"},
      {none.bytes(), "no Colibri manifest in it (docs/writing-a-plugin.md)"},
      {too_long.bytes(), "the manifest is longer than 4096 bytes"},
      {far_table, "damaged ELF file: a header table lies outside it"},
      {far_segment, "damaged ELF file: notes lie outside it"},
      {long_note, "damaged ELF file: a note is longer than its segment"},
  };
  for (const Case& c : cases) EXPECT_EQ(read(c.file).status().text(), c.text);
}

TEST(ElfNoteTest, CodeThatLiesOutsideTheFileIsRefused) {
  MadeUpElf elf = plugin_file();
  std::string bytes = elf.bytes();
  const Elf64_Word load = PT_LOAD;  // the first segment claims to be code, as long as the file is
  bytes.replace(sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_type), 4, bytes_of(load));
  EXPECT_TRUE(read(bytes).ok());
  bytes.replace(sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), 8, bytes_of(bytes.size()));
  EXPECT_EQ(read(bytes).status().text(), "damaged ELF file: it is truncated");
}

TEST(ElfNoteTest, EveryTruncationIsRefused) {
  const std::string whole = plugin_file().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read(whole.substr(0, size)).ok()) << size;
  }
}

TEST(ElfNoteTest, EveryAlteredByteIsReadWithinBounds) {
  const std::string whole = plugin_file().bytes();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
      std::string altered = whole;
      altered[at] = value;
      static_cast<void>(read(altered));  // reads outside the file fail the test in read()
    }
  }
}

TEST(ElfNoteTest, ARealSharedObjectWithoutAManifest) {
  const Result<File> self =
      File::open("/proc/self/exe");  // position-independent, so a shared object
  ASSERT_TRUE(self.ok());
  const Result<ElfNote> note = read_elf_note(
      self->size(),
      [&](uint64_t offset, void* to, uint64_t n) { return self->read(offset, to, n); });
  EXPECT_EQ(note.status().code(), COLIBRI_NOT_FOUND) << note.status().text();
}

}  // namespace
}  // namespace colibri::plugin
