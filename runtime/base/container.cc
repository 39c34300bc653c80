// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/container.h"

#include <algorithm>
#include <cstring>

namespace colibri::container {
namespace {

// Where the fields stand.
constexpr size_t kVersionAt = 8, kFlagsAt = 12, kFileBytesAt = 16, kSectionsAt = 24;
constexpr size_t kSectionBytes = 24;
constexpr size_t kUsed = kSectionsAt + kSections * kSectionBytes;
constexpr size_t kCrcAt = kPage - 4;

// CRC-32 as in zlib and PNG (polynomial 0xEDB88320).
uint32_t crc32(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

template <typename T>
void put(std::string* page, size_t at, T value) {
  std::memcpy(page->data() + at, &value, sizeof(value));  // little-endian, as the machine is
}

template <typename T>
T get(std::string_view page, size_t at) {
  T value;
  std::memcpy(&value, page.data() + at, sizeof(value));
  return value;
}

Status check_sections(const Head& head) {
  std::array<size_t, kSections> order = {};
  for (size_t i = 0; i < kSections; ++i) order[i] = i;
  for (size_t i = 0; i < kSections; ++i) {
    const Extent& section = head.sections[i];
    const std::string name = std::string("the section ") + kSectionNames[i];
    if (section.offset % kPage != 0 || section.offset < kPage) {
      return corrupt_data(name + " begins at byte " + std::to_string(section.offset) +
                          ", which is no multiple of 4096 behind the head");
    }
    if (section.offset > head.file_bytes || section.bytes > head.file_bytes - section.offset) {
      return corrupt_data(name + " leaves the file");
    }
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(head.sections[a].offset, head.sections[a].bytes) <
           std::pair(head.sections[b].offset, head.sections[b].bytes);
  });
  for (size_t i = 1; i < kSections; ++i) {
    const Extent& before = head.sections[order[i - 1]];
    if (before.offset + before.bytes > head.sections[order[i]].offset) {
      return corrupt_data(std::string("the sections ") + kSectionNames[order[i - 1]] + " and " +
                          kSectionNames[order[i]] + " overlap");
    }
  }
  return {};
}

}  // namespace

std::string encode(const Head& head) {
  std::string page(kPage, '\0');
  std::memcpy(page.data(), kMagic.data(), kMagic.size());
  put(&page, kVersionAt, kVersion);
  put(&page, kFileBytesAt, head.file_bytes);
  for (size_t i = 0; i < kSections; ++i) {
    const size_t at = kSectionsAt + i * kSectionBytes;
    put(&page, at, head.sections[i].offset);
    put(&page, at + 8, head.sections[i].bytes);
    put(&page, at + 16, head.sections[i].checksum);
  }
  put(&page, kCrcAt, crc32(std::string_view(page).substr(0, kCrcAt)));
  return page;
}

Result<Head> decode(std::string_view page, uint64_t file_bytes) {
  if (page.substr(0, kMagic.size()) != kMagic) return corrupt_data("is no .colibri file");
  if (page.size() < kPage) {
    return corrupt_data("ends after " + std::to_string(page.size()) + " bytes, within its head");
  }
  const auto version = get<uint32_t>(page, kVersionAt);
  if (version != kVersion) {
    return unsupported("is a .colibri file of version " + std::to_string(version) +
                       "; this program reads version 1: convert the source anew, or use a newer "
                       "program");
  }
  if (get<uint32_t>(page, kCrcAt) != crc32(page.substr(0, kCrcAt))) {
    return corrupt_data("its head is damaged (the checksum differs); convert the source anew");
  }
  if (get<uint32_t>(page, kFlagsAt) != 0) {
    return unsupported("has flags that this program does not know");
  }
  const std::string_view rest = page.substr(kUsed, kCrcAt - kUsed);
  if (rest.find_first_not_of('\0') != std::string_view::npos) {
    return unsupported("has fields in its head that this program does not know");
  }
  Head head;
  head.file_bytes = get<uint64_t>(page, kFileBytesAt);
  if (head.file_bytes != file_bytes) {
    return corrupt_data("has " + std::to_string(file_bytes) + " bytes and should have " +
                        std::to_string(head.file_bytes) +
                        (file_bytes < head.file_bytes ? ": it is cut short; copy it again" : ""));
  }
  for (size_t i = 0; i < kSections; ++i) {
    const size_t at = kSectionsAt + i * kSectionBytes;
    head.sections[i] = {get<uint64_t>(page, at), get<uint64_t>(page, at + 8),
                        get<uint64_t>(page, at + 16)};
  }
  COLIBRI_TRY(check_sections(head));
  return head;
}

}  // namespace colibri::container
