// SPDX-License-Identifier: Apache-2.0
// Weights times values.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu_common/attention_query.h"
#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

// 16 numbers of each of 16 values. `ahead` bytes behind them are those of the next step.
template <class S, class V>
struct ValueTile {
  const V* numbers;

  COLIBRI_INLINE void open(const V* block, int64_t tile) { numbers = block + tile * 256; }
  COLIBRI_INLINE Lanes16<S> load(int64_t value, int64_t ahead) const {
    constexpr int64_t kLine = 4 / static_cast<int64_t>(sizeof(V));  // of values
    if (value % kLine == 0) ask_ahead(numbers + value * 16, ahead);
    return load_lanes<S>(numbers + value * 16);
  }
};
template <class S>
struct ValueTile<S, Q8Part> {
  const int8_t* q;
  alignas(64) float d[COLIBRI_KV_BLOCK];

  COLIBRI_INLINE void open(const Q8Part* block, int64_t tile) {
    q = block[tile / 2].q + tile % 2 * 256;
    Lanes16<S>::load_f16(block[tile / 2].d).store(d);
  }
  COLIBRI_INLINE Lanes16<S> load(int64_t value, int64_t ahead) const {
    if (value % 4 == 0) ask_ahead(q + value * 16, ahead);
    return load_scaled<S>(q + value * 16, d[value]);
  }
};

// sums of query i += weights times B tiles of values of the keys in the range, keys ascending.
template <class S, int Q, int B, class K, class V>
COLIBRI_INLINE void add_tiles(const StepKeys<K, V>& step, KeyRange range,
                              const float (*weights)[kStepKeys], float* sums, int64_t width,
                              int64_t tile) {
  Lanes16<S> acc[Q][B];
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) acc[i][b] = Lanes16<S>::load(sums + i * width + (tile + b) * 16);
  }
  const int64_t ahead = step_bytes<V>(value_block_size<V>(width));
  for (int64_t key = range.begin; key < range.end;) {
    const int64_t block = key / COLIBRI_KV_BLOCK;
    const V* values = step.values + block * value_block_size<V>(width);
    ValueTile<S, V> tiles[B];
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) tiles[b].open(values, tile + b);
    const float* w[Q];  // of the block
    COLIBRI_UNROLL
    for (int i = 0; i < Q; ++i) w[i] = weights[i] + block * COLIBRI_KV_BLOCK;
    const auto add = [&](int64_t place) COLIBRI_INLINE_LAMBDA {
      Lanes16<S> value[B];
      COLIBRI_UNROLL
      for (int b = 0; b < B; ++b) value[b] = tiles[b].load(place, ahead);
      COLIBRI_UNROLL
      for (int i = 0; i < Q; ++i) {
        const typename S::F factor = S::set(w[i][place]);
        COLIBRI_UNROLL
        for (int b = 0; b < B; ++b) acc[i][b] = fma(factor, value[b], acc[i][b]);
      }
    };
    int64_t place = key % COLIBRI_KV_BLOCK;
    key = std::min(range.end, (block + 1) * COLIBRI_KV_BLOCK);
    const int64_t end = key - block * COLIBRI_KV_BLOCK;
    if (end - place == COLIBRI_KV_BLOCK) {  // with addresses that the compiler knows
      for_constants<COLIBRI_KV_BLOCK>(add);
    } else {
      for (; place < end; ++place) add(place);
    }
  }
  COLIBRI_UNROLL
  for (int i = 0; i < Q; ++i) {
    COLIBRI_UNROLL
    for (int b = 0; b < B; ++b) acc[i][b].store(sums + i * width + (tile + b) * 16);
  }
}

// The same for all tiles.
template <class S, int Q, class K, class V>
void add_values(const StepKeys<K, V>& step, KeyRange range, const float (*weights)[kStepKeys],
                float* sums, int64_t width) {
  constexpr int B = kBlocksAtOnce<S, Q>;
  int64_t tile = 0;
  for (; tile + B <= width / 16; tile += B)
    add_tiles<S, Q, B>(step, range, weights, sums, width, tile);
  for (; tile < width / 16; ++tile) add_tiles<S, Q, 1>(step, range, weights, sums, width, tile);
}

}  // namespace colibri::cpu
