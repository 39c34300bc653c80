// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plugins/cpu_common/views.h"
#include "plugins/cuda/cache.cuh"
#include "plugins/cuda/operators.h"

namespace colibri::cuda {
namespace {

struct NewRows {
  const float *k, *v;  // the first of the launch's rows; v is nullptr if there are no values
  int64_t k_stride, v_stride, kv_heads, head_dim;
};

// x [dims] and zeros up to `width` into place i of a block, by all threads of the block. place(d) is
// that of a number.
template <typename T, typename Place>
__device__ void write_numbers(T* block, const float* x, int64_t dims, int64_t width, int64_t i,
                              Place place) {
  for (int64_t d = threadIdx.x; d < width; d += kThreads) {  // of q8_0 whole warps
    const float number = d < dims ? x[d] : 0.0f;
    if constexpr (std::is_same_v<T, float>) {
      block[place(d)] = number;
    } else if constexpr (std::is_same_v<T, uint16_t>) {
      block[place(d)] = f16_of_f32(number);
    } else {
      const Quantised quantised = quantise(number);
      Q8Part& part = block[d / 32];
      part.q[place(d)] = static_cast<int8_t>(quantised.q);
      if (d % 32 == 0) part.d[i] = f16_of_f32(quantised.scale);
    }
  }
}

// A block for each row and head.
template <typename T>
__global__ void write_rows(NewRows rows, CachedRows caches) {
  const CachedRow& cache = caches.row[blockIdx.x];
  const int64_t head = blockIdx.y;
  const int64_t i = cache.position % 16;
  const int64_t dims = rows.head_dim;
  const int64_t parts = (dims + 31) / 32;
  write_numbers(key_block<T>(cache, head, cache.position / 16, dims),
                rows.k + blockIdx.x * rows.k_stride + head * dims, dims,
                kIsQuantised<T> ? parts * 32 : dims, i,
                [&](int64_t d) { return key_place<T>(d, i); });
  if (rows.v == nullptr) return;
  write_numbers(value_block<T>(cache, head, cache.position / 16, dims),
                rows.v + blockIdx.x * rows.v_stride + head * dims, dims,
                kIsQuantised<T> ? parts * 32 : (dims + 15) / 16 * 16, i,
                [&](int64_t d) { return value_place<T>(d, i); });
}

}  // namespace

colibri_status kv_write(const OperatorState& state, const void* arguments, cudaStream_t stream,
                        void*) {
  const auto& call = *static_cast<const colibri_kv_write_args*>(arguments);
  const auto& a = state.kv_write;
  const bool keys_only = a.keys_only == 1;
  const auto cache_of = [&](int64_t sequence) {
    const colibri_tensor& keys = call.k_cache[sequence];
    return keys_only ? cpu::key_cache(keys, a.cache_dtype, a.kv_heads, a.head_dim)
                     : cpu::key_value_cache(keys, call.v_cache[sequence], a.cache_dtype, a.kv_heads,
                                            a.head_dim);
  };
  for (int64_t begin = 0; begin < call.k.shape[0]; begin += kLaunchRows) {
    const int64_t count = std::min(kLaunchRows, call.k.shape[0] - begin);
    CachedRows caches = {};
    colibri_status status =
        find_rows(call.position, call.sequence, begin, count, cache_of, &caches);
    if (status != COLIBRI_OK) return status;
    const NewRows rows = {cpu::f32_row(call.k, begin),
                          keys_only ? nullptr : cpu::f32_row(call.v, begin),
                          call.k.stride[0] / 4,
                          call.v.stride[0] / 4,
                          a.kv_heads,
                          a.head_dim};
    const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(a.kv_heads));
    status = with_cache(a.cache_dtype, [&]<typename T>() {
      return launch(write_rows<T>, grid, stream, rows, caches);
    });
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cuda
