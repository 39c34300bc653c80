// SPDX-License-Identifier: Apache-2.0
// NEON of every 64-bit Arm: one panel of 8 rows is two vectors. What the functions do is in simd.h.
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {
namespace {

struct Neon {
  static constexpr int kLanes = 8;
  static constexpr int kPanels = 1;
  using F = float32x4x2_t;
  using I = int32x4x2_t;
  using Bytes = int8x16x2_t;
  // A vector of the sums holds two rows.
  static constexpr int kMostU = 258;  // 127 times it fits in int16
  static constexpr int kBias = 0;
  struct SumU {
    int16x8_t columns[4];
  };
  struct SumS8 {
    int32x4_t pairs[4];  // of columns
  };

  static COLIBRI_INLINE F zero() { return set(0); }
  static COLIBRI_INLINE F set(float x) { return {{vdupq_n_f32(x), vdupq_n_f32(x)}}; }
  static COLIBRI_INLINE F load(const float* p) { return {{vld1q_f32(p), vld1q_f32(p + 4)}}; }
  static COLIBRI_INLINE F load_first(const float* p, int64_t n) {
    float lanes[kLanes] = {};
    for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
    return load(lanes);
  }
  static COLIBRI_INLINE void store(float* p, F x) {
    vst1q_f32(p, x.val[0]);
    vst1q_f32(p + 4, x.val[1]);
  }
  static COLIBRI_INLINE void store_first(float* p, F x, int64_t n) {
    float lanes[kLanes];
    store(lanes, x);
    for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
  }
  static COLIBRI_INLINE F load_f16(const uint16_t* p) {
    const float16x8_t x = vreinterpretq_f16_u16(vld1q_u16(p));
    return {{vcvt_f32_f16(vget_low_f16(x)), vcvt_high_f32_f16(x)}};
  }
  static COLIBRI_INLINE F load_bf16(const uint16_t* p) {
    const uint16x8_t x = vld1q_u16(p);
    return {{vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(x), 16)),
             vreinterpretq_f32_u32(vshll_high_n_u16(x, 16))}};
  }
  static COLIBRI_INLINE void store_f16(uint16_t* p, F x) {
    const float16x8_t rounded = vcvt_high_f16_f32(vcvt_f16_f32(x.val[0]), x.val[1]);
    vst1q_u16(p, vreinterpretq_u16_f16(rounded));
  }
  static COLIBRI_INLINE F add(F a, F b) {
    return {{vaddq_f32(a.val[0], b.val[0]), vaddq_f32(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE F sub(F a, F b) {
    return {{vsubq_f32(a.val[0], b.val[0]), vsubq_f32(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE F mul(F a, F b) {
    return {{vmulq_f32(a.val[0], b.val[0]), vmulq_f32(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE F div(F a, F b) {
    return {{vdivq_f32(a.val[0], b.val[0]), vdivq_f32(a.val[1], b.val[1])}};
  }
  // A NaN on either side gives NaN.
  static COLIBRI_INLINE F min(F a, F b) {
    return {{vminq_f32(a.val[0], b.val[0]), vminq_f32(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE F max(F a, F b) {
    return {{vmaxq_f32(a.val[0], b.val[0]), vmaxq_f32(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE F fma(F a, F b, F c) {
    return {{vfmaq_f32(c.val[0], a.val[0], b.val[0]), vfmaq_f32(c.val[1], a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE F fnma(F a, F b, F c) {
    return {{vfmsq_f32(c.val[0], a.val[0], b.val[0]), vfmsq_f32(c.val[1], a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE F negate(F a) { return {{vnegq_f32(a.val[0]), vnegq_f32(a.val[1])}}; }
  static COLIBRI_INLINE F round(F a) { return {{vrndnq_f32(a.val[0]), vrndnq_f32(a.val[1])}}; }

  static COLIBRI_INLINE I zero_i() { return set_i(0); }
  static COLIBRI_INLINE I set_i(int32_t x) { return {{vdupq_n_s32(x), vdupq_n_s32(x)}}; }
  static COLIBRI_INLINE I add_i(I a, I b) {
    return {{vaddq_s32(a.val[0], b.val[0]), vaddq_s32(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE I sub_i(I a, I b) {
    return {{vsubq_s32(a.val[0], b.val[0]), vsubq_s32(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE I max_i(I a, I b) {
    return {{vmaxq_s32(a.val[0], b.val[0]), vmaxq_s32(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE I half(I a) {
    return {{vshrq_n_s32(a.val[0], 1), vshrq_n_s32(a.val[1], 1)}};
  }
  static COLIBRI_INLINE I round_to_int(F a) {
    return {{vcvtnq_s32_f32(a.val[0]), vcvtnq_s32_f32(a.val[1])}};
  }
  static COLIBRI_INLINE F to_float(I a) {
    return {{vcvtq_f32_s32(a.val[0]), vcvtq_f32_s32(a.val[1])}};
  }
  static COLIBRI_INLINE I magnitude_bits(F a) {
    const int32x4_t mask = vdupq_n_s32(0x7FFFFFFF);
    return {{vandq_s32(vreinterpretq_s32_f32(a.val[0]), mask),
             vandq_s32(vreinterpretq_s32_f32(a.val[1]), mask)}};
  }
  static COLIBRI_INLINE F power_of_two(I n) {
    const int32x4_t bias = vdupq_n_s32(127);
    return {{vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n.val[0], bias), 23)),
             vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n.val[1], bias), 23))}};
  }
  static COLIBRI_INLINE int32_t most_of(I x) { return vmaxvq_s32(vmaxq_s32(x.val[0], x.val[1])); }
  static COLIBRI_INLINE int32_t sum_of(I x) { return vaddvq_s32(vaddq_s32(x.val[0], x.val[1])); }
  static COLIBRI_INLINE void store_i8(int8_t* p, I x) {
    vst1_s8(p, vmovn_s16(vcombine_s16(vmovn_s32(x.val[0]), vmovn_s32(x.val[1]))));
  }

  static COLIBRI_INLINE F load_panels_f32(const uint8_t* p, int64_t) {
    return load(reinterpret_cast<const float*>(p));
  }
  static COLIBRI_INLINE F load_panels_f16(const uint8_t* p, int64_t) {
    return load_f16(reinterpret_cast<const uint16_t*>(p));
  }
  static COLIBRI_INLINE F load_panels_bf16(const uint8_t* p, int64_t) {
    return load_bf16(reinterpret_cast<const uint16_t*>(p));
  }
  static COLIBRI_INLINE Bytes load_panels(const uint8_t* p, int64_t) {
    const auto* bytes = reinterpret_cast<const int8_t*>(p);
    return {{vld1q_s8(bytes), vld1q_s8(bytes + 16)}};
  }
  static COLIBRI_INLINE F load_panels_i8(const uint8_t* p, int64_t) {
    const int16x8_t x = vmovl_s8(vreinterpret_s8_u8(vld1_u8(p)));
    return to_float({{vmovl_s16(vget_low_s16(x)), vmovl_high_s16(x)}});
  }
  static COLIBRI_INLINE F load_panels_e8(const uint8_t* p, int64_t) {
    const uint16x8_t e = vmovl_u8(vld1_u8(p));
    const uint32x4_t least = vdupq_n_u32(1u << 22);
    const uint32x4_t low = vshlq_n_u32(vmovl_u16(vget_low_u16(e)), 23);
    const uint32x4_t high = vshlq_n_u32(vmovl_high_u16(e), 23);
    return {{vreinterpretq_f32_u32(vmaxq_u32(low, least)),
             vreinterpretq_f32_u32(vmaxq_u32(high, least))}};
  }
  template <int shift>
  static COLIBRI_INLINE Bytes field(Bytes w, int mask) {
    return {{field_of<shift>(w.val[0], mask), field_of<shift>(w.val[1], mask)}};
  }
  static COLIBRI_INLINE Bytes or_bytes(Bytes a, Bytes b) {
    return {{vorrq_s8(a.val[0], b.val[0]), vorrq_s8(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE Bytes load_table(const int8_t* table) {
    return {{vld1q_s8(table), vld1q_s8(table)}};
  }
  static COLIBRI_INLINE Bytes lookup(Bytes table, Bytes index) {
    return {{vqtbl1q_s8(table.val[0], vreinterpretq_u8_s8(index.val[0])),
             vqtbl1q_s8(table.val[1], vreinterpretq_u8_s8(index.val[1]))}};
  }
  static COLIBRI_INLINE Bytes broadcast(const int8_t* four) {
    int32_t x;
    std::memcpy(&x, four, 4);
    const int8x16_t bytes = vreinterpretq_s8_s32(vdupq_n_s32(x));
    return {{bytes, bytes}};
  }
  static COLIBRI_INLINE SumU begin_u(I) {
    const int16x8_t zero = vdupq_n_s16(0);
    return {{zero, zero, zero, zero}};
  }
  static COLIBRI_INLINE SumU dot_u(SumU sum, Bytes w, Bytes x) {
    return {{vmlal_s8(sum.columns[0], vget_low_s8(w.val[0]), vget_low_s8(x.val[0])),
             vmlal_high_s8(sum.columns[1], w.val[0], x.val[0]),
             vmlal_s8(sum.columns[2], vget_low_s8(w.val[1]), vget_low_s8(x.val[1])),
             vmlal_high_s8(sum.columns[3], w.val[1], x.val[1])}};
  }
  static COLIBRI_INLINE I total(SumU sum, I start) {
    return add_i(start, rows({{vpaddlq_s16(sum.columns[0]), vpaddlq_s16(sum.columns[1]),
                               vpaddlq_s16(sum.columns[2]), vpaddlq_s16(sum.columns[3])}}));
  }
  static COLIBRI_INLINE I scaled(SumU sum, I factors) {
    return mul_i(total(sum, zero_i()), factors);
  }
  static COLIBRI_INLINE Bytes biased(Bytes w) { return w; }
  static COLIBRI_INLINE SumS8 begin_s8(I) {
    const int32x4_t zero = vdupq_n_s32(0);
    return {{zero, zero, zero, zero}};
  }
  static COLIBRI_INLINE SumS8 dot_s8(SumS8 sum, Bytes w, Bytes x) {
    return {{vpadalq_s16(sum.pairs[0], vmull_s8(vget_low_s8(w.val[0]), vget_low_s8(x.val[0]))),
             vpadalq_s16(sum.pairs[1], vmull_high_s8(w.val[0], x.val[0])),
             vpadalq_s16(sum.pairs[2], vmull_s8(vget_low_s8(w.val[1]), vget_low_s8(x.val[1]))),
             vpadalq_s16(sum.pairs[3], vmull_high_s8(w.val[1], x.val[1]))}};
  }
  static COLIBRI_INLINE I total(SumS8 sum, I start) { return add_i(start, rows(sum)); }

  static COLIBRI_INLINE I two_i16(const int16_t* p) {
    int32_t two;
    std::memcpy(&two, p, 4);
    return set_i(two);
  }
  static COLIBRI_INLINE I set_pair(int16_t x) { return from_pairs(vdupq_n_s16(x), vdupq_n_s16(x)); }
  static COLIBRI_INLINE I load_pairs_i8(const uint8_t* p, int64_t) {
    const int8x16_t bytes = vreinterpretq_s8_u8(vld1q_u8(p));
    return from_pairs(vmovl_s8(vget_low_s8(bytes)), vmovl_high_s8(bytes));
  }
  template <int shift>
  static COLIBRI_INLINE I pair_field(I pairs, int16_t mask) {
    return from_pairs(pair_field_of<shift>(pairs.val[0], mask),
                      pair_field_of<shift>(pairs.val[1], mask));
  }
  static COLIBRI_INLINE I dot_pairs(I a, I b) {
    return {{dot_pairs_of(a.val[0], b.val[0]), dot_pairs_of(a.val[1], b.val[1])}};
  }
  static COLIBRI_INLINE I first_factors(I pairs) {
    return {{vshrq_n_s32(vshlq_n_s32(pairs.val[0], 16), 16),
             vshrq_n_s32(vshlq_n_s32(pairs.val[1], 16), 16)}};
  }
  static COLIBRI_INLINE I second_factors(I pairs) {
    return {{vshrq_n_s32(pairs.val[0], 16), vshrq_n_s32(pairs.val[1], 16)}};
  }

 protected:
  static COLIBRI_INLINE I mul_i(I a, I b) {
    return {{vmulq_s32(a.val[0], b.val[0]), vmulq_s32(a.val[1], b.val[1])}};
  }

 private:
  template <int shift>
  static COLIBRI_INLINE int8x16_t field_of(int8x16_t w, int mask) {
    uint8x16_t bits = vreinterpretq_u8_s8(w);
    if constexpr (shift > 0) bits = vshrq_n_u8(bits, shift);
    if constexpr (shift < 0) bits = vshlq_n_u8(bits, -shift);
    return vreinterpretq_s8_u8(vandq_u8(bits, vdupq_n_u8(static_cast<uint8_t>(mask))));
  }
  template <int shift>
  static COLIBRI_INLINE int16x8_t pair_field_of(int32x4_t pairs, int16_t mask) {
    int16x8_t bits = vreinterpretq_s16_s32(pairs);
    if constexpr (shift > 0) bits = vshrq_n_s16(bits, shift);
    if constexpr (shift < 0) bits = vshlq_n_s16(bits, -shift);
    return vandq_s16(bits, vdupq_n_s16(mask));
  }
  static COLIBRI_INLINE int32x4_t dot_pairs_of(int32x4_t a, int32x4_t b) {
    const int16x8_t x = vreinterpretq_s16_s32(a);
    const int16x8_t y = vreinterpretq_s16_s32(b);
    return vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
  }
  static COLIBRI_INLINE I from_pairs(int16x8_t low, int16x8_t high) {
    return {{vreinterpretq_s32_s16(low), vreinterpretq_s32_s16(high)}};
  }
  static COLIBRI_INLINE I rows(SumS8 sum) {
    return {{vpaddq_s32(sum.pairs[0], sum.pairs[1]), vpaddq_s32(sum.pairs[2], sum.pairs[3])}};
  }
};

}  // namespace
}  // namespace colibri::cpu
