// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/layouts.h"
#include "runtime/base/small_floats.h"

namespace colibri::cpu_generic {

// The caches of one sequence, number by number.
class KvCache {
 public:
  KvCache(const cpu::KeyValueCache& cache, uint32_t dtype, int64_t head_dim)
      : cache_(cache), half_(dtype == COLIBRI_CODEC_F16), head_dim_(head_dim) {}

  float key(int64_t head, int64_t position, int64_t i) const {
    return get(cache_.keys, key_at(head, position, i));
  }
  // In a cache of keys only, the values are the first numbers of the keys.
  float value(int64_t head, int64_t position, int64_t i) const {
    if (cache_.values == nullptr) return key(head, position, i);
    return get(cache_.values, value_at(head, position, i));
  }
  void set_key(int64_t head, int64_t position, int64_t i, float x) {
    set(cache_.keys, key_at(head, position, i), x);
  }
  // i may lie in the padding of the last tile.
  void set_value(int64_t head, int64_t position, int64_t i, float x) {
    set(cache_.values, value_at(head, position, i), x);
  }

 private:
  int64_t key_at(int64_t head, int64_t position, int64_t i) const {
    const int64_t block = head * cache_.blocks + position / 16;
    return block * cpu::key_block_size(head_dim_) + i * 16 + position % 16;
  }
  int64_t value_at(int64_t head, int64_t position, int64_t i) const {
    const int64_t block = head * cache_.blocks + position / 16;
    return block * cpu::value_block_size(head_dim_) + i / 16 * 256 + position % 16 * 16 + i % 16;
  }
  float get(const uint8_t* numbers, int64_t at) const {
    if (half_) return f32_from_f16(reinterpret_cast<const uint16_t*>(numbers)[at]);
    return reinterpret_cast<const float*>(numbers)[at];
  }
  void set(uint8_t* numbers, int64_t at, float x) {
    if (half_) {
      reinterpret_cast<uint16_t*>(numbers)[at] = f16_from_f32(x);
    } else {
      reinterpret_cast<float*>(numbers)[at] = x;
    }
  }

  cpu::KeyValueCache cache_;
  bool half_;
  int64_t head_dim_;
};

}  // namespace colibri::cpu_generic
