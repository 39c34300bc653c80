// SPDX-License-Identifier: Apache-2.0
// Attention in the order of docs/numerics.md: a query's keys are cut at absolute positions into
// splits of 1024, and those into steps of 64; the splits are merged in order. Few queries run their
// splits in blocks of their own, many run them one after another in one block (online softmax:
// Milakov and Gimelshein 2018; in blocks: Dao et al. 2022).
#pragma once

#include <algorithm>

#include "plugins/cuda/cache.cuh"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {

constexpr int64_t kStepKeys = 64;
constexpr int64_t kSplitKeys = 1024;
constexpr int64_t kSplitQueries = 512;  // up to so many in a call run splits in blocks of their own
constexpr int64_t kRoundSplits = 8;     // of a query at a time: what there is memory for
constexpr int kOwn = static_cast<int>(kMostValueDim / kThreads);  // numbers of a value to a thread

// Numbers of each query of a launch: [rows][heads][dims], with strides in numbers.
struct Queries {
  const float* first;
  int64_t row, head, dims;
};

struct AttentionCall {
  Queries q[2];  // a query's numbers are those of both, one after the other
  float* output;
  int64_t output_row, output_head;  // numbers from one to the next
  int64_t heads, kv_heads, value_dim, window;
  float scale;
  const float* sink;  // [heads] or nullptr
  float* parts;       // [queries][kRoundSplits + 1][2 + value_dim], if splits have own blocks

  __host__ __device__ int64_t key_dim() const { return q[0].dims + q[1].dims; }
};

static inline int64_t split_scratch_bytes(int64_t value_dim) {
  return kSplitQueries * (kRoundSplits + 1) * (2 + value_dim) * 4;
}

// ---- the query

// A query in the block's memory: its numbers, or what they are prepared as for a q8_0 cache.
template <typename T>
struct Query {
  float number[kMostKeyDim];
};
template <>
struct Query<Q8Part> {
  alignas(4) int8_t q[kMostKeyDim];
  float scale[kMostKeyDim / 32];
};

// By all threads of the block: of head blockIdx.x and row blockIdx.y.
template <typename T>
__device__ void load_query(const AttentionCall& call, Query<T>& query) {
  const auto number = [&](int64_t d) {
    const bool is_first = d < call.q[0].dims;
    const Queries& from = call.q[is_first ? 0 : 1];
    return from.first[blockIdx.y * from.row + blockIdx.x * from.head +
                      (is_first ? d : d - call.q[0].dims)];
  };
  const int64_t dims = call.key_dim();
  if constexpr (kIsQuantised<T>) {
    for (int64_t d = threadIdx.x; d < (dims + 31) / 32 * 32; d += kThreads) {
      const Quantised quantised = quantise(d < dims ? number(d) : 0.0f);
      query.q[d] = static_cast<int8_t>(quantised.q);
      if (d % 32 == 0) query.scale[d / 32] = quantised.scale;
    }
  } else {
    for (int64_t d = threadIdx.x; d < dims; d += kThreads) query.number[d] = number(d);
  }
  __syncthreads();
}

// The product of a query and key lane % 16 of a block; nullptr gives anything. Lanes i and 16 + i
// share the work and both get the product: the chains of even and odd number ...
template <typename T>
__device__ float key_product(const Query<T>& query, const T* block, int64_t dims) {
  const bool odd = threadIdx.x % kWarp >= 16;
  const auto i = static_cast<int64_t>(threadIdx.x % 16);
  float sum = 0;
  for (int64_t begin = 0; begin < dims; begin += 64) {
    const int64_t end = begin + 64 < dims ? begin + 64 : dims;
    float of_block = 0;
    for (int64_t pair = begin; pair < end; pair += 16) {
      const int64_t first = pair + (odd ? 8 : 0);
      float chain = 0;
#pragma unroll
      for (int64_t d = first; d < first + 8; ++d) {
        if (block == nullptr || d >= end) break;
        chain = fmaf(query.number[d], cached_key(block, d, i), chain);
      }
      const float other = __shfl_xor_sync(0xFFFFFFFFu, chain, 16);
      of_block += odd ? other : chain;
      of_block += odd ? chain : other;
    }
    sum += of_block;
  }
  return sum;
}
// ... or of q8_0 the first and last 16 numbers of a part.
__device__ inline float key_product(const Query<Q8Part>& query, const Q8Part* block, int64_t dims) {
  const unsigned half = threadIdx.x % kWarp / 16;
  const unsigned i = threadIdx.x % 16;
  float sum = 0;
  for (int64_t part = 0; part * 32 < dims; ++part) {
    int products = 0;
    float scale = 0;
    if (block != nullptr) {
      const auto* fours = reinterpret_cast<const int*>(block[part].q);  // [8][16 keys]
      const auto* q = reinterpret_cast<const int*>(query.q + part * 32);
#pragma unroll
      for (unsigned v = half * 4; v < half * 4 + 4; ++v)
        products = __dp4a(fours[v * 16 + i], q[v], products);
      scale = f32_of_f16(block[part].d[i]) * query.scale[part];
    }
    products += __shfl_xor_sync(0xFFFFFFFFu, products, 16);
    sum = fmaf(static_cast<float>(products), scale, sum);
  }
  return sum;
}

// ---- keys and values

struct Keys {
  int64_t begin, end;
};
// Those that a row sees.
__host__ __device__ inline Keys keys_of(int64_t window, const CachedRow& cache) {
  const int64_t end = int64_t{cache.position} + 1;
  return {window > 0 && end > window ? end - window : 0, end};
}
// Those of them that split `number` has.
__device__ inline Keys keys_of_split(Keys keys, int64_t number) {
  const int64_t begin = number * kSplitKeys;
  return {keys.begin > begin ? keys.begin : begin,
          keys.end < begin + kSplitKeys ? keys.end : begin + kSplitKeys};
}

// Softmax so far: the largest score, the sum of exp(score - most), and of exp(score - most) * value
// the numbers that this thread has, every kThreads-th.
struct Softmax {
  float most, weight;
  float own[kOwn];
};

// Calls with(i, d) for the numbers of a value that this thread has.
template <typename With>
__device__ inline void for_each_own(int64_t dims, With with) {
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int64_t d = threadIdx.x + int64_t{i} * kThreads;
    if (d < dims) with(i, d);
  }
}

// Adds a later split to what comes before.
__device__ inline void merge(const Softmax& split, Softmax* all) {
  const float most = fmaxf(all->most, split.most);
  const float a = exp_f32(all->most - most);
  const float b = exp_f32(split.most - most);
  all->most = most;
  all->weight = fmaf(split.weight, b, all->weight * a);
  for (int i = 0; i < kOwn; ++i) all->own[i] = fmaf(split.own[i], b, all->own[i] * a);
}

// The keys of one split. With kLatent a key's first numbers are its value.
template <typename T, bool kLatent>
__device__ Softmax run_split(const AttentionCall& call, const CachedRow& cache,
                             const Query<T>& query, Keys keys) {
  __shared__ float scores[kStepKeys];
  __shared__ float shares[kStepKeys];
  const unsigned lane = threadIdx.x % kWarp;
  const int64_t head = blockIdx.x / (call.heads / call.kv_heads);
  const int64_t dims = call.key_dim();
  Softmax split = {-infinity(), 0, {}};
  float weight = 0;  // of the 16 lanes of a lane sum that of this thread
  for (int64_t step = keys.begin / kStepKeys * kStepKeys; step < keys.end; step += kStepKeys) {
    const auto sees = [&](int64_t key) { return key >= keys.begin && key < keys.end; };
    // A warp takes a block of 16 keys.
    const int64_t mine = step + threadIdx.x / kWarp * 16 + lane % 16;
    const T* block = sees(mine) ? key_block<T>(cache, head, mine / 16, dims) : nullptr;
    const float product = key_product(query, block, dims);
    if (lane < 16) scores[mine - step] = sees(mine) ? product * call.scale : -infinity();
    __syncthreads();  // also: the shares of the step before have been used

    const float most = fmaxf(split.most, warp_max(fmaxf(scores[lane], scores[lane + 32])));
    if (threadIdx.x < kStepKeys) {
      const float score = scores[threadIdx.x];
      shares[threadIdx.x] = sees(step + threadIdx.x) ? exp_f32(score - most) : 0.0f;
    }
    const float factor = step <= keys.begin ? 1.0f : exp_f32(split.most - most);
    split.most = most;
    __syncthreads();

    weight *= factor;
    for (unsigned i = lane % 16; i < kStepKeys; i += 16) weight += shares[i];
    const int64_t first = step > keys.begin ? step : keys.begin;
    const int64_t last = step + kStepKeys < keys.end ? step + kStepKeys : keys.end;
    for_each_own(call.value_dim, [&](int i, int64_t d) {
      float sum = split.own[i] * factor;
      for (int64_t k = first; k < last; ++k) {
        float value = 0;
        if constexpr (kLatent) {
          value = cached_key(key_block<T>(cache, head, k / 16, dims), d, k % 16);
        } else {
          value = cached_value(value_block<T>(cache, head, k / 16, call.value_dim), d, k % 16);
        }
        sum = fmaf(shares[k - step], value, sum);
      }
      split.own[i] = sum;
    });
  }
  split.weight = fold_lanes(weight);
  return split;
}

// ---- all keys of a query

__device__ inline void write_output(const AttentionCall& call, Softmax all) {
  if (call.sink != nullptr) {
    const float sink = call.sink[blockIdx.x];
    const float most = fmaxf(all.most, sink);
    const float a = exp_f32(all.most - most);
    all.weight = fmaf(all.weight, a, exp_f32(sink - most));
    for (int i = 0; i < kOwn; ++i) all.own[i] *= a;
  }
  float* out = call.output + blockIdx.y * call.output_row + blockIdx.x * call.output_head;
  for_each_own(call.value_dim, [&](int i, int64_t d) { out[d] = all.own[i] / all.weight; });
}

// A block for each head (x) and row (y).
template <typename T, bool kLatent>
__global__ void attend(AttentionCall call, CachedRows rows) {
  __shared__ Query<T> query;
  load_query(call, query);
  const CachedRow& cache = rows.row[blockIdx.y];
  const Keys keys = keys_of(call.window, cache);
  const int64_t first = keys.begin / kSplitKeys;
  Softmax all = run_split<T, kLatent>(call, cache, query, keys_of_split(keys, first));
  for (int64_t split = first + 1; split * kSplitKeys < keys.end; ++split)
    merge(run_split<T, kLatent>(call, cache, query, keys_of_split(keys, split)), &all);
  write_output(call, all);
}

// Where split `place` of a round is kept; at kRoundSplits are all of the rounds before.
__device__ inline float* part_memory(const AttentionCall& call, int64_t place) {
  const int64_t query = int64_t{blockIdx.y} * call.heads + blockIdx.x;
  return call.parts + (query * (kRoundSplits + 1) + place) * (2 + call.value_dim);
}
__device__ inline void keep(const AttentionCall& call, const Softmax& part, int64_t place) {
  float* to = part_memory(call, place);
  if (threadIdx.x == 0) {
    to[0] = part.most;
    to[1] = part.weight;
  }
  for_each_own(call.value_dim, [&](int i, int64_t d) { to[2 + d] = part.own[i]; });
}
__device__ inline Softmax kept(const AttentionCall& call, int64_t place) {
  const float* from = part_memory(call, place);
  Softmax part = {from[0], from[1], {}};
  for_each_own(call.value_dim, [&](int i, int64_t d) { part.own[i] = from[2 + d]; });
  return part;
}

// A block for each head (x), row (y) and split (z) of a round that begins at split `round` of the
// row's.
template <typename T, bool kLatent>
__global__ void attend_split(AttentionCall call, CachedRows rows, int64_t round) {
  __shared__ Query<T> query;
  const CachedRow& cache = rows.row[blockIdx.y];
  const Keys keys = keys_of(call.window, cache);
  const int64_t split = keys.begin / kSplitKeys + round + blockIdx.z;
  if (split * kSplitKeys >= keys.end) return;
  load_query(call, query);
  keep(call, run_split<T, kLatent>(call, cache, query, keys_of_split(keys, split)), blockIdx.z);
}

// A block for each head (x) and row (y): what attend_split() has kept in this round and before.
static __global__ void merge_round(AttentionCall call, CachedRows rows, int64_t round) {
  const Keys keys = keys_of(call.window, rows.row[blockIdx.y]);
  const int64_t first = keys.begin / kSplitKeys + round;
  if (first * kSplitKeys >= keys.end) return;  // it has had its last round
  Softmax all = kept(call, round == 0 ? 0 : kRoundSplits);
  int64_t place = round == 0 ? 1 : 0;
  for (; place < kRoundSplits && (first + place) * kSplitKeys < keys.end; ++place)
    merge(kept(call, place), &all);
  if ((first + place) * kSplitKeys < keys.end) {
    __syncthreads();  // all threads have read what comes before
    keep(call, all, kRoundSplits);
  } else {
    write_output(call, all);
  }
}

// Of the row that has most of them.
static inline int64_t most_splits(int64_t window, const CachedRows& rows, int64_t count) {
  int64_t most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Keys keys = keys_of(window, rows.row[i]);
    most = std::max(most, (keys.end - 1) / kSplitKeys - keys.begin / kSplitKeys + 1);
  }
  return most;
}

// Puts `count` rows into the stream.
template <bool kLatent>
colibri_status attend_rows(const AttentionCall& call, uint32_t cache_dtype, const CachedRows& rows,
                           int64_t count, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(call.heads), static_cast<unsigned>(count));
  const int64_t splits = most_splits(call.window, rows, count);
  return with_cache(cache_dtype, [&]<typename T>() -> colibri_status {
    if (splits == 1 || count * call.heads > kSplitQueries)
      return launch(attend<T, kLatent>, grid, stream, call, rows);
    for (int64_t round = 0; round < splits; round += kRoundSplits) {
      const auto here = static_cast<unsigned>(std::min(kRoundSplits, splits - round));
      colibri_status status =
          launch(attend_split<T, kLatent>, dim3(grid.x, grid.y, here), stream, call, rows, round);
      if (status == COLIBRI_OK) status = launch(merge_round, grid, stream, call, rows, round);
      if (status != COLIBRI_OK) return status;
    }
    return COLIBRI_OK;
  });
}

}  // namespace colibri::cuda
