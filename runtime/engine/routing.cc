// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/routing.h"

#include <algorithm>

namespace colibri::engine {

Routing::Routing(int64_t max_tokens, int64_t top_k, int64_t experts)
    : top_k_(top_k),
      first_pair_(static_cast<size_t>(experts) + 1),
      pairs_(static_cast<size_t>(max_tokens * top_k)),
      token_of_row_(pairs_.size()),
      row_of_pair_(pairs_.size()) {
  distinct_.reserve(static_cast<size_t>(experts));
  group_begin_.reserve(static_cast<size_t>(experts) + 1);
}

void Routing::begin(const int32_t* chosen, int64_t tokens) {
  // Counting sort by expert, stable in the pair.
  std::fill(first_pair_.begin(), first_pair_.end(), 0);
  const int64_t pairs = tokens * top_k_;
  for (int64_t pair = 0; pair < pairs; ++pair) ++first_pair_[static_cast<size_t>(chosen[pair]) + 1];
  distinct_.clear();
  for (size_t expert = 0; expert + 1 < first_pair_.size(); ++expert) {
    if (first_pair_[expert + 1] > 0) distinct_.push_back(static_cast<int32_t>(expert));
    first_pair_[expert + 1] += first_pair_[expert];
  }
  for (int64_t pair = 0; pair < pairs; ++pair) {
    int32_t& next = first_pair_[static_cast<size_t>(chosen[pair])];
    pairs_[static_cast<size_t>(next++)] = static_cast<int32_t>(pair);
  }
  // Placing moved each expert's first to its end, which is the next one's first: move back.
  for (size_t expert = first_pair_.size() - 1; expert > 0; --expert) {
    first_pair_[expert] = first_pair_[expert - 1];
  }
  first_pair_[0] = 0;
  rows_ = 0;
}

void Routing::begin_wave() {
  group_begin_.clear();
  group_begin_.push_back(rows_);
}

void Routing::add(int32_t expert) {
  const auto e = static_cast<size_t>(expert);
  for (int32_t i = first_pair_[e]; i < first_pair_[e + 1]; ++i) {
    const int32_t pair = pairs_[static_cast<size_t>(i)];
    token_of_row_[static_cast<size_t>(rows_)] = static_cast<int32_t>(pair / top_k_);
    row_of_pair_[static_cast<size_t>(pair)] = static_cast<int32_t>(rows_);
    ++rows_;
  }
  group_begin_.push_back(rows_);
}

}  // namespace colibri::engine
