// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/kv_cache_memory.h"

#include <cstring>
#include <limits>
#include <string>

#include "plugins/cpu_common/layouts.h"
#include "runtime/base/small_floats.h"

namespace colibri::conformance {
namespace {

colibri_tensor cache_tensor(uint32_t dtype, int64_t kv_heads, int64_t blocks, int64_t width,
                            void* buffer) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = dtype;
  tensor.rank = 4;
  const int64_t shape[4] = {kv_heads, blocks, width, COLIBRI_KV_BLOCK};
  int64_t stride = dtype == COLIBRI_CODEC_F16 ? 2 : 4;
  for (int i = 3; i >= 0; --i) {
    tensor.shape[i] = shape[i];
    tensor.stride[i] = stride;
    stride *= shape[i];
  }
  tensor.buffer = buffer;
  return tensor;
}

}  // namespace

KvCacheMemory::KvCacheMemory(uint32_t dtype, int64_t sequences, int64_t kv_heads, int64_t blocks,
                             int64_t head_dim)
    : dtype_(dtype), kv_heads_(kv_heads), blocks_(blocks), head_dim_(head_dim) {
  const int64_t element = dtype == COLIBRI_CODEC_F16 ? 2 : 4;
  for (int64_t i = 0; i < sequences; ++i) {
    memory_.emplace_back(
        static_cast<size_t>(kv_heads * blocks * cpu::key_block_size(head_dim) * element));
    k_.push_back(cache_tensor(dtype, kv_heads, blocks, head_dim, memory_.back().data()));
    memory_.emplace_back(
        static_cast<size_t>(kv_heads * blocks * cpu::value_block_size(head_dim) * element));
    v_.push_back(cache_tensor(dtype, kv_heads, blocks, cpu::value_tiles(head_dim) * 16,
                              memory_.back().data()));
  }
}

void KvCacheMemory::set(const Memory& memory, int64_t index, float x) const {
  if (dtype_ == COLIBRI_CODEC_F16) {
    const uint16_t half = f16_from_f32(x);
    std::memcpy(memory.data() + index * 2, &half, 2);
  } else {
    std::memcpy(memory.data() + index * 4, &x, 4);
  }
}

void KvCacheMemory::fill(Random& random, int64_t filled) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const int64_t width = cpu::value_tiles(head_dim_) * 16;
  for (size_t sequence = 0; sequence < k_.size(); ++sequence) {
    for (int64_t block = 0; block < kv_heads_ * blocks_; ++block) {
      for (int64_t place = 0; place < 16; ++place) {
        const bool written = block % blocks_ * 16 + place < filled;
        for (int64_t i = 0; i < head_dim_; ++i) {
          set(memory_[2 * sequence], (block * head_dim_ + i) * 16 + place,
              written ? 2 * random.uniform() : kNaN);
        }
        for (int64_t i = 0; i < width; ++i) {
          const float x = i < head_dim_ ? random.uniform() : 0;
          set(memory_[2 * sequence + 1], block * width * 16 + i / 16 * 256 + place * 16 + i % 16,
              written ? x : kNaN);
        }
      }
    }
  }
}

std::vector<Output> KvCacheMemory::outputs() const {
  std::vector<Output> outputs;
  for (size_t i = 0; i < memory_.size(); ++i) {
    outputs.emplace_back((i % 2 == 0 ? "k cache " : "v cache ") + std::to_string(i / 2), dtype_,
                         memory_[i]);
  }
  return outputs;
}

}  // namespace colibri::conformance
