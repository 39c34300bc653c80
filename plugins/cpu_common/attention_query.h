// SPDX-License-Identifier: Apache-2.0
// What the products of attention work on: a query, and the keys and values of a step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "plugins/cpu_common/kv_layout.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/simd.h"
#include "plugins/cpu_common/vector_math.h"

namespace colibri::cpu {

constexpr int64_t kStepKeys = 64;  // keys of one update of the running maximum, at multiples of 64
constexpr int64_t kSplitKeys = 1024;  // keys of one running sum, at multiples of 1024

// One query of one row, and how far it is.
struct alignas(64) AttentionQuery {
  float weight[16];  // of the split: sum of exp(score - most), 16 virtual lanes
  const float* q;
  PreparedRow prepared;  // q as q8_32, padded with zeros; only for keys that are quantised
  int64_t begin, end;    // keys it sees
  float most;            // of the split: the largest score
  float merged_most, merged_weight;
  bool has_split, has_merged;

  COLIBRI_INLINE void start(const float* query, int64_t first, int64_t last) {
    q = query;
    begin = first;
    end = last;
    has_merged = false;
  }
  COLIBRI_INLINE void start_split() {
    std::fill_n(weight, 16, 0.0f);
    most = -std::numeric_limits<float>::infinity();
    has_split = false;
  }
};

template <class K, class V>
struct StepKeys {
  const K* keys;  // of the step's first block
  const V* values;
  int64_t first;  // position of the step
  int64_t key_dim;
  float scale;
};

// 16 neighbours in a cache of floats.
template <class S>
COLIBRI_INLINE Lanes16<S> load_lanes(const float* p) {
  return Lanes16<S>::load(p);
}
template <class S>
COLIBRI_INLINE Lanes16<S> load_lanes(const uint16_t* p) {
  return Lanes16<S>::load_f16(p);
}

// 16 integers times their scale.
template <class S>
COLIBRI_INLINE Lanes16<S> load_scaled(const int8_t* q, float d) {
  Lanes16<S> lanes;
  COLIBRI_UNROLL
  for (int v = 0; v < Lanes16<S>::kVectors; ++v) {
    const auto* eight = reinterpret_cast<const uint8_t*>(q + v * S::kLanes);
    lanes.v[v] = S::mul(S::set(d), S::load_panels_i8(eight, 8));
  }
  return lanes;
}

// How many bytes the same place of the next step is ahead.
template <class T>
COLIBRI_INLINE int64_t step_bytes(int64_t block_size) {
  return kStepKeys / COLIBRI_KV_BLOCK * block_size * static_cast<int64_t>(sizeof(T));
}
COLIBRI_INLINE void ask_ahead(const void* here, int64_t ahead) {
  ask_for_line(static_cast<const char*>(here) + ahead);
}

struct KeyRange {  // within the step
  int64_t begin, end;
};

// Queries that are computed together, and 16 keys or 16 numbers of values for each: enough sums at a
// time to hide how long one fma takes.
template <class S>
constexpr int kWideQueries = S::kLanes == 16 ? 8 : 4;
template <class S, int Q>
constexpr int kBlocksAtOnce = std::clamp(8 / (Q * Lanes16<S>::kVectors), 1, 4);

}  // namespace colibri::cpu
