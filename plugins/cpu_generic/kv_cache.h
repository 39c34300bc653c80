// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_common/kv_layout.h"
#include "runtime/base/small_floats.h"

namespace colibri::cpu_generic {

// The caches of one sequence, number by number.
class KvCache {
 public:
  KvCache(const cpu::KeyValueCache& cache, uint32_t dtype, int64_t head_dim)
      : cache_(cache), dtype_(dtype), head_dim_(head_dim) {}

  bool quantised() const { return dtype_ == COLIBRI_CODEC_Q8_0; }
  float key(int64_t head, int64_t position, int64_t i) const {
    if (quantised())
      return key_scale(head, position, i) * static_cast<float>(key_q(head, position, i));
    return get(cache_.keys, key_at(head, position, i));
  }
  // In a cache of keys only, the values are the first numbers of the keys.
  float value(int64_t head, int64_t position, int64_t i) const;

  // The integer and the scale of number i of a quantised key.
  int8_t key_q(int64_t head, int64_t position, int64_t i) const {
    return part(cache_.keys, head, position, i)->q[key_place(position, i)];
  }
  float key_scale(int64_t head, int64_t position, int64_t i) const {
    return f32_from_f16(part(cache_.keys, head, position, i)->d[position % 16]);
  }

  // x is [head_dim]; the padding of a value, and of what is quantised, is written too.
  void set_key(int64_t head, int64_t position, const float* x);
  void set_value(int64_t head, int64_t position, const float* x);

 private:
  int64_t block_at(int64_t head, int64_t position) const {
    return head * cache_.blocks + position / 16;
  }
  int64_t key_at(int64_t head, int64_t position, int64_t i) const {
    return block_at(head, position) * cpu::key_block_size<float>(head_dim_) + i * 16 +
           position % 16;
  }
  int64_t value_at(int64_t head, int64_t position, int64_t i) const {
    return block_at(head, position) * cpu::value_block_size<float>(head_dim_) + i / 16 * 256 +
           position % 16 * 16 + i % 16;
  }
  float get(const uint8_t* numbers, int64_t at) const;
  void set(uint8_t* numbers, int64_t at, float x);

  // Number i of a q8_0 cache: its part, and its place there.
  cpu::Q8Part* part(uint8_t* parts, int64_t head, int64_t position, int64_t i) const {
    return reinterpret_cast<cpu::Q8Part*>(parts) +
           block_at(head, position) * cpu::q8_parts(head_dim_) + i / 32;
  }
  static int64_t key_place(int64_t position, int64_t i) {
    return i % 32 / 4 * 64 + position % 16 * 4 + i % 4;
  }
  static int64_t value_place(int64_t position, int64_t i) {
    return i % 32 / 16 * 256 + position % 16 * 16 + i % 16;
  }
  using Place = int64_t (*)(int64_t position, int64_t i);
  void set_parts(uint8_t* parts, Place place, int64_t head, int64_t position, const float* x);

  cpu::KeyValueCache cache_;
  uint32_t dtype_;
  int64_t head_dim_;
};

}  // namespace colibri::cpu_generic
