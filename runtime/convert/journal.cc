// SPDX-License-Identifier: Apache-2.0
#include "runtime/convert/journal.h"

#include <charconv>
#include <cstdio>
#include <utility>

#include "runtime/base/file.h"

namespace colibri::convert {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 28;
constexpr size_t kLineBytes = 17;  // 16 hexadecimal digits and the end of the line

}  // namespace

Result<Journal> Journal::open(const std::filesystem::path& path, const std::string& identity) {
  const std::string head = "colibri convert 1 " + identity + "\n";
  std::string text;
  if (std::filesystem::exists(path)) {
    COLIBRI_ASSIGN(text, read_file(path, kMostBytes));
  }
  COLIBRI_ASSIGN(WritableFile file, WritableFile::open(path));
  Journal journal(std::move(file));
  journal.head_bytes_ = head.size();
  if (!text.starts_with(head)) {
    if (text.find('\n') != std::string::npos) {
      return invalid_argument(path.string() +
                              ": belongs to another conversion (another source, other codecs, or "
                              "another version); remove it and the .partial file beside it, or "
                              "choose another output");
    }
    COLIBRI_TRY(journal.file_.resize(0));  // nothing was done yet
    COLIBRI_TRY(journal.file_.write(0, head));
    return journal;
  }
  for (size_t at = head.size(); at + kLineBytes <= text.size(); at += kLineBytes) {
    uint64_t sum = 0;
    const char* end = text.data() + at + kLineBytes - 1;
    const auto read = std::from_chars(text.data() + at, end, sum, 16);
    if (read.ec != std::errc() || read.ptr != end || *end != '\n') break;
    journal.done_.push_back(sum);
  }
  COLIBRI_TRY(journal.keep(journal.done_.size()));
  return journal;
}

Status Journal::keep(size_t n) {
  done_.resize(n);
  return file_.resize(head_bytes_ + n * kLineBytes);
}

Status Journal::add(uint64_t checksum) {
  char line[kLineBytes + 1];
  std::snprintf(line, sizeof(line), "%016llx\n", static_cast<unsigned long long>(checksum));
  COLIBRI_TRY(file_.write(head_bytes_ + done_.size() * kLineBytes, {line, kLineBytes}));
  done_.push_back(checksum);
  return {};
}

}  // namespace colibri::convert
