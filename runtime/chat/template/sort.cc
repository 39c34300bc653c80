// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/sort.h"

#include <algorithm>

#include "runtime/chat/template/compare.h"

namespace colibri::chat {
namespace {

// Merges the sorted halves [begin, middle) and [middle, end).
Status merge(Budget& budget, std::vector<Keyed>& items, size_t begin, size_t middle, size_t end,
             bool descending) {
  std::vector<Keyed> merged;
  size_t left = begin, right = middle;
  while (left < middle && right < end) {
    const Keyed& a = descending ? items[left] : items[right];
    const Keyed& b = descending ? items[right] : items[left];
    COLIBRI_ASSIGN(const bool right_first, less(budget, a.key, b.key));
    merged.push_back(std::move(items[right_first ? right++ : left++]));
  }
  while (left < middle) merged.push_back(std::move(items[left++]));
  std::move(merged.begin(), merged.end(), items.begin() + static_cast<std::ptrdiff_t>(begin));
  return {};
}

}  // namespace

Status sort_by_key(Budget& budget, std::vector<Keyed>& items, bool descending) {
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin + width < items.size(); begin += 2 * width) {
      const size_t end = std::min(begin + 2 * width, items.size());
      COLIBRI_TRY(merge(budget, items, begin, begin + width, end, descending));
    }
  }
  return {};
}

}  // namespace colibri::chat
