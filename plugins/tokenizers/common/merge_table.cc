// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/merge_table.h"

#include <bit>
#include <string>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {

void MergeTable::reserve(size_t pairs) {
  const size_t size = std::bit_ceil(2 * pairs + 2);
  if (size <= slots_.size()) return;
  std::vector<Slot> old(size, Slot{kFree, {0, 0}});
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.pair != kFree) slots_[place(slot.pair)] = slot;
  }
}

void MergeTable::set(int32_t left, int32_t right, Merge merge) {
  reserve(taken_ + 1);
  Slot& slot = slots_[place(key(left, right))];
  taken_ += slot.pair == kFree;
  slot = {key(left, right), merge};
}

Status MergeTable::add(std::string_view left, std::string_view right, uint32_t rank,
                       const Vocabulary& vocabulary) {
  std::string joint(left);
  joint += right;
  const Merge merge{rank, vocabulary.id(joint)};
  const int32_t left_id = vocabulary.id(left);
  const int32_t right_id = vocabulary.id(right);
  for (const auto& [token, id] :
       {Vocabulary::Entry{left, left_id}, {right, right_id}, {joint, merge.id}}) {
    if (id < 0) {
      return corrupt_data("the token " + utf8::printable(token) + " is not in the vocabulary");
    }
  }
  set(left_id, right_id, merge);
  return {};
}

}  // namespace colibri::tokenizers
