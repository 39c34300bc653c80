// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_generic/kv_cache.h"

#include <algorithm>

#include "plugins/cpu_generic/prepare_block.h"

namespace colibri::cpu_generic {

float KvCache::value(int64_t head, int64_t position, int64_t i) const {
  if (cache_.values == nullptr) return key(head, position, i);
  if (!quantised()) return get(cache_.values, value_at(head, position, i));
  const cpu::Q8Part& found = *part(cache_.values, head, position, i);
  return f32_from_f16(found.d[position % 16]) *
         static_cast<float>(found.q[value_place(position, i)]);
}

void KvCache::set_key(int64_t head, int64_t position, const float* x) {
  if (quantised()) return set_parts(cache_.keys, key_place, head, position, x);
  for (int64_t i = 0; i < head_dim_; ++i) set(cache_.keys, key_at(head, position, i), x[i]);
}

void KvCache::set_value(int64_t head, int64_t position, const float* x) {
  if (quantised()) return set_parts(cache_.values, value_place, head, position, x);
  for (int64_t i = 0; i < cpu::value_tiles(head_dim_) * 16; ++i)
    set(cache_.values, value_at(head, position, i), i < head_dim_ ? x[i] : 0);
}

void KvCache::set_parts(uint8_t* parts, Place place, int64_t head, int64_t position,
                        const float* x) {
  for (int64_t first = 0; first < head_dim_; first += 32) {
    float numbers[32] = {};
    std::copy(x + first, x + std::min(first + 32, head_dim_), numbers);
    int8_t q[32];
    float d;
    int16_t sum[2];
    prepare_block(numbers, {q, &d, sum}, 0);
    cpu::Q8Part& to = *part(parts, head, position, first);
    to.d[position % 16] = f16_from_f32(d);
    for (int64_t i = 0; i < 32; ++i) to.q[place(position, i)] = q[i];
  }
}

float KvCache::get(const uint8_t* numbers, int64_t at) const {
  if (dtype_ == COLIBRI_CODEC_F16)
    return f32_from_f16(reinterpret_cast<const uint16_t*>(numbers)[at]);
  return reinterpret_cast<const float*>(numbers)[at];
}

void KvCache::set(uint8_t* numbers, int64_t at, float x) {
  if (dtype_ == COLIBRI_CODEC_F16) {
    reinterpret_cast<uint16_t*>(numbers)[at] = f16_from_f32(x);
  } else {
    reinterpret_cast<float*>(numbers)[at] = x;
  }
}

}  // namespace colibri::cpu_generic
