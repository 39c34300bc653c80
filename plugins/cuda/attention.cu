// SPDX-License-Identifier: Apache-2.0
// Attention in the order of docs/numerics.md: a query's keys are cut at absolute positions into
// splits of 1024, and those into steps of 64; the splits are merged in order. Few queries run their
// splits in blocks of their own, many run them one after another in one block.
#include <algorithm>

#include "plugins/cpu_common/views.h"
#include "plugins/cuda/cache.cuh"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {
namespace {

constexpr int64_t kStepKeys = 64;
constexpr int64_t kSplitKeys = 1024;
constexpr int64_t kSplitRows = 16;  // calls of up to so many rows run splits in blocks of their own
constexpr int64_t kRoundSplits = 8;  // of a query at a time: what there is memory for
constexpr int kOwn = static_cast<int>(kMostHeadDim / kThreads);  // numbers of a value to a thread

struct Call {
  const float* q;  // the first of the launch's rows
  float* output;
  int64_t q_stride, output_stride;  // numbers
  int64_t heads, kv_heads, head_dim, window;
  float scale;
  const float* sink;  // [heads] or nullptr
  float* parts;       // [rows][heads][kRoundSplits + 1][2 + head_dim], if splits have own blocks
};

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

// The product of a query and a key, in the order of a chain sum; lane 16 h + i has the chains of
// parity h of key i of a block, and both get the product. Without a key it is +0.
template <typename T>
__device__ float key_product(const float* q, const T* key, int64_t dims) {
  const bool odd = threadIdx.x % kWarp >= 16;
  float sum = 0;
  for (int64_t begin = 0; begin < dims; begin += 64) {
    const int64_t end = begin + 64 < dims ? begin + 64 : dims;
    float block = 0;
    for (int64_t pair = begin; pair < end; pair += 16) {
      const int64_t first = pair + (odd ? 8 : 0);
      float chain = 0;
#pragma unroll
      for (int64_t d = first; d < first + 8; ++d) {
        if (key == nullptr || d >= end) break;
        chain = fmaf(q[d], cached(key[d * 16]), chain);
      }
      const float other = __shfl_xor_sync(0xFFFFFFFFu, chain, 16);
      block += odd ? other : chain;
      block += odd ? chain : other;
    }
    sum += block;
  }
  return sum;
}

// scores[0, 64) of the keys from `key` on; -inf where the query sees none. Each warp takes one block
// of 16 keys.
template <typename T>
__device__ void score_step(const Call& call, const CachedRow& cache, int64_t head, const float* q,
                           int64_t key, Keys keys, float* scores) {
  const unsigned lane = threadIdx.x % kWarp;
  const int64_t mine = key + threadIdx.x / kWarp * 16 + lane % 16;
  const bool sees = mine >= keys.begin && mine < keys.end;
  const T* at = sees ? key_block<T>(cache, head, mine / 16, call.head_dim) + lane % 16 : nullptr;
  const float product = key_product(q, at, call.head_dim);
  if (lane < 16)
    scores[threadIdx.x / kWarp * 16 + lane] = sees ? product * call.scale : -infinity();
}

// The keys of one split, for a query whose q is [head_dim] in the block's memory.
template <typename T>
__device__ Softmax run_split(const Call& call, const CachedRow& cache, int64_t head, const float* q,
                             Keys keys) {
  __shared__ float scores[kStepKeys];
  __shared__ float shares[kStepKeys];
  const unsigned lane = threadIdx.x % kWarp;
  const int64_t tiles = (call.head_dim + 15) / 16;
  Softmax split = {-infinity(), 0, {}};
  float weight = 0;  // of the 16 lanes of a lane sum that of this thread
  for (int64_t step = keys.begin / kStepKeys * kStepKeys; step < keys.end; step += kStepKeys) {
    score_step<T>(call, cache, head, q, step, keys, scores);
    __syncthreads();  // also: the shares of the step before have been used
    const float most = fmaxf(split.most, warp_max(fmaxf(scores[lane], scores[lane + 32])));
    if (threadIdx.x < kStepKeys) {
      const int64_t key = step + threadIdx.x;
      const bool sees = key >= keys.begin && key < keys.end;
      shares[threadIdx.x] = sees ? exp_f32(scores[threadIdx.x] - most) : 0.0f;
    }
    const float factor = step <= keys.begin ? 1.0f : exp_f32(split.most - most);
    split.most = most;
    __syncthreads();
    weight *= factor;
    for (unsigned i = lane % 16; i < kStepKeys; i += 16) weight += shares[i];
    const int64_t first = step > keys.begin ? step : keys.begin;
    const int64_t last = step + kStepKeys < keys.end ? step + kStepKeys : keys.end;
    for_each_own(call.head_dim, [&](int i, int64_t d) {
      float sum = split.own[i] * factor;
      for (int64_t k = first; k < last; ++k) {
        const T* values = value_block<T>(cache, head, k / 16, tiles);
        sum = fmaf(shares[k - step], cached(values[d / 16 * 256 + k % 16 * 16 + d % 16]), sum);
      }
      split.own[i] = sum;
    });
  }
  split.weight = fold_lanes(weight);
  return split;
}

// The query's numbers, for all threads of the block.
__device__ inline void load_query(const Call& call, float* q) {
  const float* from = call.q + blockIdx.y * call.q_stride + blockIdx.x * call.head_dim;
  for (int64_t d = threadIdx.x; d < call.head_dim; d += kThreads) q[d] = from[d];
  __syncthreads();
}

__device__ inline void write_output(const Call& call, Softmax all) {
  if (call.sink != nullptr) {
    const float sink = call.sink[blockIdx.x];
    const float most = fmaxf(all.most, sink);
    const float a = exp_f32(all.most - most);
    all.weight = fmaf(all.weight, a, exp_f32(sink - most));
    for (int i = 0; i < kOwn; ++i) all.own[i] *= a;
  }
  float* out = call.output + blockIdx.y * call.output_stride + blockIdx.x * call.head_dim;
  for_each_own(call.head_dim, [&](int i, int64_t d) { out[d] = all.own[i] / all.weight; });
}

// A block for each head (x) and row (y).
template <typename T>
__global__ void attend(Call call, CachedRows rows) {
  __shared__ float q[kMostHeadDim];
  load_query(call, q);
  const CachedRow& cache = rows.row[blockIdx.y];
  const int64_t head = blockIdx.x / (call.heads / call.kv_heads);
  const Keys keys = keys_of(call.window, cache);
  const int64_t first = keys.begin / kSplitKeys;
  Softmax all = run_split<T>(call, cache, head, q, keys_of_split(keys, first));
  for (int64_t split = first + 1; split * kSplitKeys < keys.end; ++split)
    merge(run_split<T>(call, cache, head, q, keys_of_split(keys, split)), &all);
  write_output(call, all);
}

// Where split `place` of a round is kept; at kRoundSplits are all of the rounds before.
__device__ inline float* part_memory(const Call& call, int64_t place) {
  const int64_t query = int64_t{blockIdx.y} * call.heads + blockIdx.x;
  return call.parts + (query * (kRoundSplits + 1) + place) * (2 + call.head_dim);
}
__device__ inline void keep(const Call& call, const Softmax& part, int64_t place) {
  float* to = part_memory(call, place);
  if (threadIdx.x == 0) {
    to[0] = part.most;
    to[1] = part.weight;
  }
  for_each_own(call.head_dim, [&](int i, int64_t d) { to[2 + d] = part.own[i]; });
}
__device__ inline Softmax kept(const Call& call, int64_t place) {
  const float* from = part_memory(call, place);
  Softmax part = {from[0], from[1], {}};
  for_each_own(call.head_dim, [&](int i, int64_t d) { part.own[i] = from[2 + d]; });
  return part;
}

// A block for each head (x), row (y) and split (z) of a round that begins at split `round` of the
// row's.
template <typename T>
__global__ void attend_split(Call call, CachedRows rows, int64_t round) {
  __shared__ float q[kMostHeadDim];
  const CachedRow& cache = rows.row[blockIdx.y];
  const Keys keys = keys_of(call.window, cache);
  const int64_t split = keys.begin / kSplitKeys + round + blockIdx.z;
  if (split * kSplitKeys >= keys.end) return;
  load_query(call, q);
  const int64_t head = blockIdx.x / (call.heads / call.kv_heads);
  keep(call, run_split<T>(call, cache, head, q, keys_of_split(keys, split)), blockIdx.z);
}

// A block for each head (x) and row (y): what attend_split() has kept in this round and before.
__global__ void merge_round(Call call, CachedRows rows, int64_t round) {
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
int64_t most_splits(int64_t window, const CachedRows& rows, int64_t count) {
  int64_t most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Keys keys = keys_of(window, rows.row[i]);
    most = std::max(most, (keys.end - 1) / kSplitKeys - keys.begin / kSplitKeys + 1);
  }
  return most;
}

template <typename T>
colibri_status attend_rows(const Call& call, const CachedRows& rows, int64_t count, bool few,
                           cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(call.heads), static_cast<unsigned>(count));
  const int64_t splits = most_splits(call.window, rows, count);
  if (!few || splits == 1) return launch(attend<T>, grid, stream, call, rows);
  for (int64_t round = 0; round < splits; round += kRoundSplits) {
    const auto here = static_cast<unsigned>(std::min(kRoundSplits, splits - round));
    colibri_status status =
        launch(attend_split<T>, dim3(grid.x, grid.y, here), stream, call, rows, round);
    if (status == COLIBRI_OK) status = launch(merge_round, grid, stream, call, rows, round);
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace

int64_t attention_scratch_bytes(const OperatorState& state) {
  return kSplitRows * state.attention.heads * (kRoundSplits + 1) * (2 + state.attention.head_dim) *
         4;
}

// output = softmax(scale * q K) V over the keys that the row sees, and the sink (online softmax:
// Milakov and Gimelshein 2018; in blocks: Dao et al. 2022)
colibri_status attention(const OperatorState& state, const void* arguments, cudaStream_t stream,
                         void* scratch) {
  const auto& call = *static_cast<const colibri_attention_args*>(arguments);
  const auto& a = state.attention;
  const bool few = call.q.shape[0] <= kSplitRows;
  for (int64_t begin = 0; begin < call.q.shape[0]; begin += kLaunchRows) {
    const int64_t count = std::min(kLaunchRows, call.q.shape[0] - begin);
    CachedRows rows = {};
    colibri_status status =
        find_rows(call, a.cache_dtype, a.kv_heads, a.head_dim, false, begin, count, &rows);
    if (status != COLIBRI_OK) return status;
    const Call part = {cpu::f32_row(call.q, begin),
                       cpu::f32_row(call.output, begin),
                       call.q.stride[0] / 4,
                       call.output.stride[0] / 4,
                       a.heads,
                       a.kv_heads,
                       a.head_dim,
                       a.window,
                       a.scale,
                       a.sinks == 1 ? call.sink : nullptr,
                       static_cast<float*>(scratch)};
    status = a.cache_dtype == COLIBRI_CODEC_F32
                 ? attend_rows<float>(part, rows, count, few, stream)
                 : attend_rows<uint16_t>(part, rows, count, few, stream);
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cuda
