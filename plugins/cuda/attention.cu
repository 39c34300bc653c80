// SPDX-License-Identifier: Apache-2.0
// Attention with an online softmax. A query's keys are cut at absolute positions into chunks of 256,
// chunk c belongs to part c mod 8, and a part goes through its chunks in steps of 64 keys. The parts
// are merged in order. Few queries run their parts in blocks of their own, many run them one after
// another in one block: the same arithmetic, so the same bytes.
#include <algorithm>

#include "plugins/cpu_common/views.h"
#include "plugins/cuda/cache.cuh"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {
namespace {

constexpr int64_t kStepKeys = 64;
constexpr int64_t kChunkKeys = 256;
constexpr int kParts = 8;
constexpr int64_t kSplitRows = 16;  // calls of up to so many rows run parts in blocks of their own
constexpr int kOwn = static_cast<int>(kMostHeadDim / kThreads);  // numbers of a value to a thread

struct Call {
  const float* q;  // the first of the launch's rows
  float* output;
  int64_t q_stride, output_stride;  // numbers
  int64_t heads, kv_heads, head_dim, window;
  float scale;
  const float* sink;  // [heads] or nullptr
  float* parts;       // [rows][heads][kParts][2 + head_dim], if parts have blocks of their own
};

// Softmax so far: the largest score, the sum of exp(score - most), and of exp(score - most) * value
// the numbers that this thread has, every kThreads-th.
struct Softmax {
  float most, weight;
  float own[kOwn];
};
__device__ inline Softmax nothing() {
  Softmax none = {-infinity(), 0, {}};
  return none;
}

// Adds a later part to an earlier one; one without keys changes nothing.
__device__ inline void merge(const Softmax& part, Softmax* all) {
  if (part.weight == 0) return;
  if (all->weight == 0) {
    *all = part;
    return;
  }
  const float most = fmaxf(all->most, part.most);
  const float a = exp_f32(all->most - most);
  const float b = exp_f32(part.most - most);
  all->most = most;
  all->weight = fmaf(part.weight, b, all->weight * a);
  for (int i = 0; i < kOwn; ++i) all->own[i] = fmaf(part.own[i], b, all->own[i] * a);
}

struct Keys {
  int64_t begin, end;  // that the query sees
};
__device__ inline Keys keys_of(const Call& call, const CachedRow& cache) {
  const int64_t end = int64_t{cache.position} + 1;
  const int64_t begin = call.window > 0 && end > call.window ? end - call.window : 0;
  return {begin, end};
}

// scores[0, 64) of the keys from `key` on; -inf where the query sees none. Each warp takes one block
// of 16 keys: lane 16 h + i adds up the even (h = 0) or odd numbers of key i.
template <typename T>
__device__ void score_step(const Call& call, const CachedRow& cache, int64_t head, const float* q,
                           int64_t key, Keys keys, float* scores) {
  const unsigned lane = threadIdx.x % kWarp;
  const int64_t mine = key + threadIdx.x / kWarp * 16 + lane % 16;
  const bool sees = mine >= keys.begin && mine < keys.end;
  float dot = 0;
  if (sees) {
    const T* k = key_block<T>(cache, head, mine / 16, call.head_dim) + lane % 16;
    for (int64_t d = lane / 16; d < call.head_dim; d += 2) dot = fmaf(q[d], cached(k[d * 16]), dot);
  }
  dot += __shfl_xor_sync(0xFFFFFFFFu, dot, 16);
  if (lane < 16) scores[threadIdx.x / kWarp * 16 + lane] = sees ? dot * call.scale : -infinity();
}

// One step of a part, by all threads of the block. scores, shares: [64] of the block.
template <typename T>
__device__ void run_step(const Call& call, const CachedRow& cache, int64_t head, const float* q,
                         int64_t key, Keys keys, float* scores, float* shares, Softmax* part) {
  __syncthreads();  // the shares of the step before have been used
  score_step<T>(call, cache, head, q, key, keys, scores);
  __syncthreads();
  const unsigned lane = threadIdx.x % kWarp;
  const float low = scores[lane];
  const float high = scores[lane + 32];
  const float most = fmaxf(part->most, warp_max(fmaxf(low, high)));
  const auto share = [&](float score, int64_t at) {
    return at >= keys.begin && at < keys.end ? exp_f32(score - most) : 0.0f;
  };
  const float low_share = share(low, key + lane);
  const float high_share = share(high, key + lane + 32);
  if (threadIdx.x < kWarp) {
    shares[lane] = low_share;
    shares[lane + 32] = high_share;
  }
  const float factor = part->weight == 0 ? 0.0f : exp_f32(part->most - most);
  part->weight = part->weight * factor + warp_sum(low_share + high_share);
  part->most = most;
  __syncthreads();
  const int64_t tiles = (call.head_dim + 15) / 16;
  const int64_t first = key > keys.begin ? key : keys.begin;
  const int64_t last = key + kStepKeys < keys.end ? key + kStepKeys : keys.end;
  for (int i = 0; i < kOwn; ++i) {
    const int64_t d = threadIdx.x + int64_t{i} * kThreads;
    if (d >= call.head_dim) break;
    float sum = part->weight == 0 ? 0.0f : part->own[i] * factor;
    for (int64_t k = first; k < last; ++k) {
      const T* values = value_block<T>(cache, head, k / 16, tiles);
      sum = fmaf(shares[k - key], cached(values[d / 16 * 256 + k % 16 * 16 + d % 16]), sum);
    }
    part->own[i] = sum;
  }
}

// Part `number` of a query, whose q is [head_dim] in the block's memory.
template <typename T>
__device__ Softmax run_part(const Call& call, const CachedRow& cache, int64_t head, const float* q,
                            int number) {
  __shared__ float scores[kStepKeys];
  __shared__ float shares[kStepKeys];
  const Keys keys = keys_of(call, cache);
  Softmax part = nothing();
  const int64_t first_chunk = keys.begin / kChunkKeys;
  const int64_t skip = (number - first_chunk % kParts + kParts) % kParts;
  for (int64_t chunk = first_chunk + skip; chunk * kChunkKeys < keys.end; chunk += kParts) {
    for (int64_t key = chunk * kChunkKeys; key < (chunk + 1) * kChunkKeys; key += kStepKeys) {
      if (key + kStepKeys <= keys.begin || key >= keys.end) continue;
      run_step<T>(call, cache, head, q, key, keys, scores, shares, &part);
    }
  }
  return part;
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
  for (int i = 0; i < kOwn; ++i) {
    const int64_t d = threadIdx.x + int64_t{i} * kThreads;
    if (d < call.head_dim) out[d] = all.own[i] / all.weight;
  }
}

// A block for each head (x) and row (y).
template <typename T>
__global__ void attend(Call call, CachedRows rows) {
  __shared__ float q[kMostHeadDim];
  load_query(call, q);
  const int64_t head = blockIdx.x / (call.heads / call.kv_heads);
  Softmax all = nothing();
  for (int part = 0; part < kParts; ++part)
    merge(run_part<T>(call, rows.row[blockIdx.y], head, q, part), &all);
  write_output(call, all);
}

__device__ inline float* part_memory(const Call& call, int64_t part) {
  return call.parts +
         ((int64_t{blockIdx.y} * call.heads + blockIdx.x) * kParts + part) * (2 + call.head_dim);
}

// A block for each head (x), row (y) and part (z).
template <typename T>
__global__ void attend_part(Call call, CachedRows rows) {
  __shared__ float q[kMostHeadDim];
  load_query(call, q);
  const int64_t head = blockIdx.x / (call.heads / call.kv_heads);
  const Softmax part =
      run_part<T>(call, rows.row[blockIdx.y], head, q, static_cast<int>(blockIdx.z));
  float* to = part_memory(call, blockIdx.z);
  if (threadIdx.x == 0) {
    to[0] = part.most;
    to[1] = part.weight;
  }
  for (int i = 0; i < kOwn; ++i) {
    const int64_t d = threadIdx.x + int64_t{i} * kThreads;
    if (d < call.head_dim) to[2 + d] = part.own[i];
  }
}

// A block for each head (x) and row (y).
__global__ void merge_parts(Call call) {
  Softmax all = nothing();
  for (int number = 0; number < kParts; ++number) {
    const float* from = part_memory(call, number);
    Softmax part = {from[0], from[1], {}};
    for (int i = 0; i < kOwn; ++i) {
      const int64_t d = threadIdx.x + int64_t{i} * kThreads;
      if (d < call.head_dim) part.own[i] = from[2 + d];
    }
    merge(part, &all);
  }
  write_output(call, all);
}

template <typename T>
colibri_status attend_rows(const Call& call, const CachedRows& rows, dim3 grid, bool split,
                           cudaStream_t stream) {
  if (!split) return launch(attend<T>, grid, stream, call, rows);
  const dim3 parts(grid.x, grid.y, kParts);
  const colibri_status status = launch(attend_part<T>, parts, stream, call, rows);
  return status == COLIBRI_OK ? launch(merge_parts, grid, stream, call) : status;
}

}  // namespace

int64_t attention_scratch_bytes(const OperatorState& state) {
  return kSplitRows * state.attention.heads * kParts * (2 + state.attention.head_dim) * 4;
}

// output = softmax(scale * q K) V over the keys that the row sees, and the sink (online softmax:
// Milakov and Gimelshein 2018; in blocks: Dao et al. 2022)
colibri_status attention(const OperatorState& state, const void* arguments, cudaStream_t stream,
                         void* scratch) {
  const auto& call = *static_cast<const colibri_attention_args*>(arguments);
  const auto& a = state.attention;
  const bool split = call.q.shape[0] <= kSplitRows;
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
    const dim3 grid(static_cast<unsigned>(a.heads), static_cast<unsigned>(count));
    status = a.cache_dtype == COLIBRI_CODEC_F32
                 ? attend_rows<float>(part, rows, grid, split, stream)
                 : attend_rows<uint16_t>(part, rows, grid, split, stream);
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cuda
