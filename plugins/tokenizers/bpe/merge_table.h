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
  const Merge* find(int32_t left, int32_t right) const;

 private:
  struct Slot {
    uint64_t pair;  // left id in the upper half
    Merge merge;
  };
  size_t place(uint64_t pair) const;  // where it stands or would stand

  std::vector<Slot> slots_;  // a power of two, at most half of them taken; none while empty
  size_t taken_ = 0;
};

}  // namespace colibri::tokenizers
