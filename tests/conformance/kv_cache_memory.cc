// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/kv_cache_memory.h"

#include <cstring>
#include <limits>
#include <string>

#include "plugins/cpu_common/kv_layout.h"
#include "runtime/base/small_floats.h"

namespace colibri::conformance {
namespace {

constexpr uint16_t kHalfNaN = 0x7E00;

int64_t number_bytes(uint32_t dtype) {
  return dtype == COLIBRI_CODEC_F16 ? 2 : 4;
}

// block_bytes: of 16 keys of a head.
colibri_tensor cache_tensor(uint32_t dtype, int64_t kv_heads, int64_t blocks, int64_t width,
                            int64_t block_bytes, void* buffer) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = dtype;
  tensor.rank = 4;
  const int64_t shape[4] = {kv_heads, blocks, width, COLIBRI_KV_BLOCK};
  for (int i = 0; i < 4; ++i) tensor.shape[i] = shape[i];
  tensor.stride[0] = blocks * block_bytes;
  tensor.stride[1] = block_bytes;
  if (dtype != COLIBRI_CODEC_Q8_0) {
    tensor.stride[2] = number_bytes(dtype) * COLIBRI_KV_BLOCK;
    tensor.stride[3] = number_bytes(dtype);
  }
  tensor.buffer = buffer;
  return tensor;
}

}  // namespace

KvCacheMemory::KvCacheMemory(uint32_t dtype, int64_t sequences, int64_t kv_heads, int64_t blocks,
                             int64_t head_dim)
    : dtype_(dtype), kv_heads_(kv_heads), blocks_(blocks), head_dim_(head_dim) {
  const bool quantised = dtype == COLIBRI_CODEC_Q8_0;
  const int64_t part_bytes = sizeof(cpu::Q8Part);
  const int64_t key_bytes = quantised ? cpu::key_block_size<cpu::Q8Part>(head_dim) * part_bytes
                                      : cpu::key_block_size<float>(head_dim) * number_bytes(dtype);
  const int64_t value_bytes = quantised
                                  ? cpu::value_block_size<cpu::Q8Part>(head_dim) * part_bytes
                                  : cpu::value_block_size<float>(head_dim) * number_bytes(dtype);
  for (int64_t i = 0; i < sequences; ++i) {
    memory_.emplace_back(static_cast<size_t>(kv_heads * blocks * key_bytes));
    k_.push_back(cache_tensor(dtype, kv_heads, blocks, cpu::cached_key_width(dtype, head_dim),
                              key_bytes, memory_.back().data()));
    memory_.emplace_back(static_cast<size_t>(kv_heads * blocks * value_bytes));
    v_.push_back(cache_tensor(dtype, kv_heads, blocks, cpu::cached_value_width(dtype, head_dim),
                              value_bytes, memory_.back().data()));
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

void KvCacheMemory::fill_parts(Random& random, int64_t filled) {
  const int64_t parts = cpu::q8_parts(head_dim_);
  for (size_t i = 0; i < memory_.size(); ++i) {
    auto* cache = reinterpret_cast<cpu::Q8Part*>(memory_[i].data());
    for (int64_t at = 0; at < kv_heads_ * blocks_ * parts; ++at) {
      for (int64_t place = 0; place < 16; ++place) {
        const bool written = at / parts % blocks_ * 16 + place < filled;
        cache[at].d[place] = written ? f16_from_f32(random.uniform() / 64) : kHalfNaN;
        for (int64_t n = 0; n < 32; ++n) {
          const int64_t keys = n / 4 * 64 + place * 4 + n % 4;
          const int64_t values = n / 16 * 256 + place * 16 + n % 16;
          const bool padding = at % parts * 32 + n >= head_dim_;
          cache[at].q[i % 2 == 0 ? keys : values] =
              static_cast<int8_t>(written && padding ? 0 : random.below(255) - 127);
        }
      }
    }
  }
}

void KvCacheMemory::fill(Random& random, int64_t filled) {
  if (dtype_ == COLIBRI_CODEC_Q8_0) return fill_parts(random, filled);
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
  const uint32_t numbers = dtype_ == COLIBRI_CODEC_Q8_0 ? uint32_t{COLIBRI_CODEC_U8} : dtype_;
  for (size_t i = 0; i < memory_.size(); ++i) {
    outputs.emplace_back((i % 2 == 0 ? "k cache " : "v cache ") + std::to_string(i / 2), numbers,
                         memory_[i]);
  }
  return outputs;
}

}  // namespace colibri::conformance
