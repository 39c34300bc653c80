// SPDX-License-Identifier: Apache-2.0
// The head page of a .colibri file, and what its parts have in common. docs/format.md is the
// definition.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri::container {

constexpr std::string_view kMagic("COLIBRI\0", 8);
constexpr uint32_t kVersion = 1;
// The size of the head; sections, dense tensors and bundles begin at its multiples.
constexpr uint64_t kPage = 4096;
constexpr uint64_t kAlignment = 64;  // of the tensors inside a bundle

enum Section { kDense, kExperts, kMetadata, kResources, kDirectory, kSections };
constexpr const char* kSectionNames[kSections] = {"dense", "experts", "metadata", "resources",
                                                  "directory"};

struct Extent {
  uint64_t offset = 0, bytes = 0;
  uint64_t checksum = 0;  // XXH3-64; 0 for kDense and kExperts, whose tensors have their own
};

struct Head {
  uint64_t file_bytes = 0;
  std::array<Extent, kSections> sections;
};

// Metadata keys that say how the file was made; the others are the source's.
constexpr std::string_view kOwnKeys = "colibri.";
constexpr std::string_view kVocabularyKey = "colibri.vocabulary";      // of the source: "hf"
constexpr std::string_view kArchitectureKey = "colibri.architecture";  // its document: "mixtral"
constexpr std::string_view kTensorsKey = "colibri.source_tensors";  // names, in the order of bytes

// kPage bytes.
std::string encode(const Head& head);
// Refuses by name: another magic or version, a damaged page, sections that are not aligned, overlap
// or leave the file, and a file of another size than `file_bytes`.
Result<Head> decode(std::string_view page, uint64_t file_bytes);

}  // namespace colibri::container
