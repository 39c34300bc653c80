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

// A block for each row and head.
template <typename T>
__global__ void write_rows(NewRows rows, CachedRows caches) {
  const CachedRow& cache = caches.row[blockIdx.x];
  const int64_t head = blockIdx.y;
  const int64_t key = cache.position % 16;
  const float* k = rows.k + blockIdx.x * rows.k_stride + head * rows.head_dim;
  T* keys = key_block<T>(cache, head, cache.position / 16, rows.head_dim);
  for (int64_t d = threadIdx.x; d < rows.head_dim; d += kThreads)
    keys[d * 16 + key] = to_cache<T>(k[d]);
  if (rows.v == nullptr) return;
  const float* v = rows.v + blockIdx.x * rows.v_stride + head * rows.head_dim;
  const int64_t tiles = (rows.head_dim + 15) / 16;
  T* values = value_block<T>(cache, head, cache.position / 16, tiles);
  for (int64_t d = threadIdx.x; d < tiles * 16; d += kThreads)
    values[d / 16 * 256 + key * 16 + d % 16] = to_cache<T>(d < rows.head_dim ? v[d] : 0.0f);
}

}  // namespace

colibri_status kv_write(const OperatorState& state, const void* arguments, cudaStream_t stream,
                        void*) {
  const auto& call = *static_cast<const colibri_kv_write_args*>(arguments);
  const auto& a = state.kv_write;
  for (int64_t begin = 0; begin < call.k.shape[0]; begin += kLaunchRows) {
    const int64_t count = std::min(kLaunchRows, call.k.shape[0] - begin);
    CachedRows caches = {};
    colibri_status status = find_rows(call, a.cache_dtype, a.kv_heads, a.head_dim, a.keys_only == 1,
                                      begin, count, &caches);
    if (status != COLIBRI_OK) return status;
    const NewRows rows = {cpu::f32_row(call.k, begin),
                          a.keys_only == 1 ? nullptr : cpu::f32_row(call.v, begin),
                          call.k.stride[0] / 4,
                          call.v.stride[0] / 4,
                          a.kv_heads,
                          a.head_dim};
    const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(a.kv_heads));
    status = launch(a.cache_dtype == COLIBRI_CODEC_F32 ? write_rows<float> : write_rows<uint16_t>,
                    grid, stream, rows, caches);
    if (status != COLIBRI_OK) return status;
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cuda
