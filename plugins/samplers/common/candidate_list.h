// SPDX-License-Identifier: Apache-2.0
// What the samplers share: the candidates in order of their logits. Allocates nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "colibri/sampler.h"

namespace colibri::samplers {

// A candidate as one number, so that ascending keys are descending logits, and ascending ids among
// equal logits.
using Key = uint64_t;

inline Key key_of(float logit, int32_t id) {
  // The bits of a float as an integer of the same order: negative ones reversed. + 0.0f makes -0.0f
  // equal to 0.0f.
  const auto bits = std::bit_cast<uint32_t>(logit + 0.0f);
  const uint32_t ascending = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return (uint64_t{~ascending} << 32) | static_cast<uint32_t>(id);
}

inline int32_t id_of(Key key) {
  return static_cast<int32_t>(static_cast<uint32_t>(key));
}

inline float logit_of(Key key) {
  const uint32_t ascending = ~static_cast<uint32_t>(key >> 32);
  return std::bit_cast<float>((ascending >> 31) != 0 ? ascending & 0x7FFFFFFFu : ~ascending);
}

// The candidates from the best on, sorted only as far as they are asked for.
class SortedPrefix {
 public:
  // keys: room for candidates.n of them.
  SortedPrefix(const colibri_candidates& candidates, Key* keys)
      : keys_(keys), n_(candidates.n), sorted_(candidates.sorted != 0 ? n_ : 0) {
    for (size_t i = 0; i < n_; ++i) keys_[i] = key_of(candidates.logit[i], candidates.id[i]);
  }

  // Sorts at least the first `count` (at most n); linear in n for a small count.
  void sort(size_t count) {
    if (count <= sorted_) return;
    if (count < n_) std::nth_element(keys_ + sorted_, keys_ + count, keys_ + n_);
    std::sort(keys_ + sorted_, keys_ + count);
    sorted_ = count;
  }

  // The i-th best, sorting in steps that grow.
  Key at(size_t i) {
    if (i >= sorted_) sort(std::min(n_, std::max<size_t>(64, 4 * i)));
    return keys_[i];
  }

  // Makes the first `count` candidates the whole list.
  void keep(size_t count, colibri_candidates& candidates) {
    sort(count);
    for (size_t i = 0; i < count; ++i) {
      candidates.id[i] = id_of(keys_[i]);
      candidates.logit[i] = logit_of(keys_[i]);
    }
    candidates.n = count;
    candidates.sorted = 1;
  }

 private:
  Key* keys_;
  size_t n_;
  size_t sorted_;
};

// The largest logit; n > 0.
inline float max_logit(const colibri_candidates& candidates) {
  if (candidates.sorted != 0) return candidates.logit[0];
  return *std::max_element(candidates.logit, candidates.logit + candidates.n);
}

}  // namespace colibri::samplers
