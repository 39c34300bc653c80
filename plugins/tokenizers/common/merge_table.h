// SPDX-License-Identifier: Apache-2.0
// The merges of a BPE model: what a pair of neighbouring symbols becomes, and how soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/vocabulary.h"

namespace colibri::tokenizers {

struct Merge {
  uint32_t rank;  // lower ones come first
  int32_t id;     // of the joint symbol
};

// A hash table with open addressing: a look-up is one or two cache lines.
class MergeTable {
 public:
  void reserve(size_t pairs);
  // The tokens of the pair and its joint text must be in the vocabulary: COLIBRI_CORRUPT_DATA.
  Status add(std::string_view left, std::string_view right, uint32_t rank,
             const Vocabulary& vocabulary);
  // The last merge of a pair counts. Ids are not negative.
  void set(int32_t left, int32_t right, Merge merge);
  // Null if the pair does not merge. Thread-safe.
  const Merge* find(int32_t left, int32_t right) const {
    if (slots_.empty() || left < 0 || right < 0) return nullptr;
    const Slot& slot = slots_[place(key(left, right))];
    return slot.pair == kFree ? nullptr : &slot.merge;
  }

 private:
  struct Slot {
    uint64_t pair;  // left id in the upper half
    Merge merge;
  };
  static constexpr uint64_t kFree = ~uint64_t{0};  // no pair of ids

  static uint64_t key(int32_t left, int32_t right) {
    return (uint64_t{static_cast<uint32_t>(left)} << 32) | static_cast<uint32_t>(right);
  }
  // Where a pair stands or would stand.
  size_t place(uint64_t pair) const {
    uint64_t mixed = (pair ^ (pair >> 32)) * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 29;
    const size_t mask = slots_.size() - 1;
    size_t at = static_cast<size_t>(mixed) & mask;
    while (slots_[at].pair != kFree && slots_[at].pair != pair) at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken; none while empty
  size_t taken_ = 0;
};

}  // namespace colibri::tokenizers
