// SPDX-License-Identifier: Apache-2.0
// AVX-512 F, BW, VL and DQ: two panels of 8 rows are one vector. What the functions do is in
// simd.h.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {
namespace {

struct Avx512 {
  static constexpr int kLanes = 16;
  static constexpr int kPanels = 2;
  using F = __m512;
  using I = __m512i;
  using Bytes = __m512i;
  static constexpr int kMostU = 129;  // 2 * 127 times it fits in int16
  static constexpr int kBias = 0;
  struct SumU {
    __m512i pairs;  // int16
  };
  struct SumS8 {
    __m512i rows;  // int32
  };

  static COLIBRI_INLINE F zero() { return _mm512_setzero_ps(); }
  static COLIBRI_INLINE F set(float x) { return _mm512_set1_ps(x); }
  static COLIBRI_INLINE F load(const float* p) { return _mm512_loadu_ps(p); }
  static COLIBRI_INLINE F load_first(const float* p, int64_t n) {
    return _mm512_maskz_loadu_ps(first(n), p);
  }
  static COLIBRI_INLINE void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static COLIBRI_INLINE void store_first(float* p, F x, int64_t n) {
    _mm512_mask_storeu_ps(p, first(n), x);
  }
  static COLIBRI_INLINE F load_f16(const uint16_t* p) { return _mm512_cvtph_ps(load_16x16(p)); }
  static COLIBRI_INLINE F load_bf16(const uint16_t* p) { return from_bf16(load_16x16(p)); }
  // As f16_from_f32 of numbers.h does it. vcvtps2ph would be shorter, but bochs 2.7, in which CI runs
  // this, rounds its ties away from zero; and only the writing of keys and values needs it.
  static COLIBRI_INLINE void store_f16(uint16_t* p, F x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i magnitude = magnitude_bits(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(magnitude, 13), set_i(1));
    const __m512i rounded = _mm512_add_epi32(magnitude, _mm512_add_epi32(odd, set_i(0xFFF)));
    __m512i half = _mm512_srli_epi32(_mm512_sub_epi32(rounded, set_i(0x38000000)), 13);
    // below 2^-14: the unit of f16's subnormals is that of floats from 0.5 on
    const F sum = _mm512_add_ps(_mm512_castsi512_ps(magnitude), set(0.5f));
    half = _mm512_mask_sub_epi32(half, _mm512_cmplt_epi32_mask(magnitude, set_i(0x38800000)),
                                 _mm512_castps_si512(sum), _mm512_castps_si512(set(0.5f)));
    half = _mm512_mask_mov_epi32(half, _mm512_cmpge_epi32_mask(magnitude, set_i(0x47800000)),
                                 set_i(0x7C00));
    half = _mm512_mask_mov_epi32(half, _mm512_cmpgt_epi32_mask(magnitude, set_i(0x7F800000)),
                                 set_i(0x7E00));
    const __m512i sign = _mm512_and_si512(_mm512_srli_epi32(bits, 16), set_i(0x8000));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtepi32_epi16(_mm512_or_si512(half, sign)));
  }
  static COLIBRI_INLINE F add(F a, F b) { return _mm512_add_ps(a, b); }
  static COLIBRI_INLINE F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static COLIBRI_INLINE F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static COLIBRI_INLINE F div(F a, F b) { return _mm512_div_ps(a, b); }
  static COLIBRI_INLINE F min(F a, F b) { return _mm512_min_ps(a, b); }
  static COLIBRI_INLINE F max(F a, F b) { return _mm512_max_ps(a, b); }
  static COLIBRI_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static COLIBRI_INLINE F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
  static COLIBRI_INLINE F negate(F a) { return _mm512_xor_ps(a, set(-0.0f)); }
  static COLIBRI_INLINE F round(F a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }

  static COLIBRI_INLINE I zero_i() { return _mm512_setzero_si512(); }
  static COLIBRI_INLINE I set_i(int32_t x) { return _mm512_set1_epi32(x); }
  static COLIBRI_INLINE I add_i(I a, I b) { return _mm512_add_epi32(a, b); }
  static COLIBRI_INLINE I sub_i(I a, I b) { return _mm512_sub_epi32(a, b); }
  static COLIBRI_INLINE I max_i(I a, I b) { return _mm512_max_epi32(a, b); }
  static COLIBRI_INLINE I half(I a) { return _mm512_srai_epi32(a, 1); }
  static COLIBRI_INLINE I round_to_int(F a) { return _mm512_cvtps_epi32(a); }
  static COLIBRI_INLINE F to_float(I a) { return _mm512_cvtepi32_ps(a); }
  static COLIBRI_INLINE I magnitude_bits(F a) {
    return _mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(0x7FFFFFFF));
  }
  static COLIBRI_INLINE F power_of_two(I n) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(127)), 23));
  }
  static COLIBRI_INLINE int32_t most_of(I x) { return _mm512_reduce_max_epi32(x); }
  static COLIBRI_INLINE int32_t sum_of(I x) { return _mm512_reduce_add_epi32(x); }
  static COLIBRI_INLINE void store_i8(int8_t* p, I x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(x));
  }

  static COLIBRI_INLINE F load_panels_f32(const uint8_t* p, int64_t next) {
    return _mm512_castsi512_ps(load_panels(p, next));
  }
  static COLIBRI_INLINE F load_panels_f16(const uint8_t* p, int64_t next) {
    return _mm512_cvtph_ps(load_8x16_twice(p, next));
  }
  static COLIBRI_INLINE F load_panels_bf16(const uint8_t* p, int64_t next) {
    return from_bf16(load_8x16_twice(p, next));
  }
  static COLIBRI_INLINE Bytes load_panels(const uint8_t* p, int64_t next) {
    const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + next));
    return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
  }
  static COLIBRI_INLINE F load_panels_i8(const uint8_t* p, int64_t next) {
    return to_float(_mm512_cvtepi8_epi32(load_8x8_twice(p, next)));
  }
  static COLIBRI_INLINE F load_panels_e8(const uint8_t* p, int64_t next) {
    const __m512i bits = _mm512_slli_epi32(_mm512_cvtepu8_epi32(load_8x8_twice(p, next)), 23);
    return _mm512_castsi512_ps(_mm512_max_epu32(bits, set_i(1 << 22)));
  }
  template <int shift>
  static COLIBRI_INLINE Bytes field(Bytes w, int mask) {
    if constexpr (shift > 0) w = _mm512_srli_epi16(w, shift);
    if constexpr (shift < 0) w = _mm512_slli_epi16(w, -shift);
    return _mm512_and_si512(w, _mm512_set1_epi8(static_cast<char>(mask)));
  }
  static COLIBRI_INLINE Bytes or_bytes(Bytes a, Bytes b) { return _mm512_or_si512(a, b); }
  static COLIBRI_INLINE Bytes load_table(const int8_t* table) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  }
  static COLIBRI_INLINE Bytes lookup(Bytes table, Bytes index) {
    return _mm512_shuffle_epi8(table, index);
  }
  static COLIBRI_INLINE Bytes broadcast(const int8_t* four) {
    int32_t x;
    std::memcpy(&x, four, 4);
    return _mm512_set1_epi32(x);
  }
  static COLIBRI_INLINE SumU begin_u(I) { return {_mm512_setzero_si512()}; }
  static COLIBRI_INLINE SumU dot_u(SumU sum, Bytes w, Bytes x) {
    return {pinned(_mm512_add_epi16(sum.pairs, _mm512_maddubs_epi16(w, x)))};
  }
  static COLIBRI_INLINE I total(SumU sum, I start) {
    return add_i(start, scaled(sum, set_pair(1)));
  }
  static COLIBRI_INLINE I scaled(SumU sum, I factors) {
    return _mm512_madd_epi16(sum.pairs, factors);
  }
  static COLIBRI_INLINE Bytes biased(Bytes w) { return w; }
  static COLIBRI_INLINE SumS8 begin_s8(I start) { return {start}; }
  // |w| is unsigned and its sign goes to x; 2 * 128 * 127 fits in int16.
  static COLIBRI_INLINE SumS8 dot_s8(SumS8 sum, Bytes w, Bytes x) {
    const Bytes signed_x =
        _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(w), _mm512_setzero_si512(), x);
    const __m512i pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(w), signed_x);
    return {pinned(_mm512_add_epi32(sum.rows, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1))))};
  }
  static COLIBRI_INLINE I total(SumS8 sum, I) { return sum.rows; }

  static COLIBRI_INLINE I two_i16(const int16_t* p) {
    int32_t two;
    std::memcpy(&two, p, 4);
    return set_i(two);
  }
  static COLIBRI_INLINE I set_pair(int16_t x) { return _mm512_set1_epi16(x); }
  static COLIBRI_INLINE I load_pairs_i8(const uint8_t* p, int64_t next) {
    return _mm512_cvtepi8_epi16(load_8x16_twice(p, next));
  }
  template <int shift>
  static COLIBRI_INLINE I pair_field(I pairs, int16_t mask) {
    if constexpr (shift > 0) pairs = _mm512_srli_epi16(pairs, shift);
    if constexpr (shift < 0) pairs = _mm512_slli_epi16(pairs, -shift);
    return _mm512_and_si512(pairs, _mm512_set1_epi16(mask));
  }
  static COLIBRI_INLINE I dot_pairs(I a, I b) { return _mm512_madd_epi16(a, b); }
  // Both halves of a lane, since dot_u leaves two sums there.
  static COLIBRI_INLINE I first_factors(I pairs) {
    return _mm512_mask_blend_epi16(0xAAAAAAAA, pairs, _mm512_slli_epi32(pairs, 16));
  }
  static COLIBRI_INLINE I second_factors(I pairs) {
    return _mm512_mask_blend_epi16(0xAAAAAAAA, _mm512_srli_epi32(pairs, 16), pairs);
  }

 private:
  static COLIBRI_INLINE __m256i load_16x16(const uint16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static COLIBRI_INLINE __m128i load_8x8_twice(const uint8_t* p, int64_t next) {
    return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)),
                              _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + next)));
  }
  static COLIBRI_INLINE __m256i load_8x16_twice(const uint8_t* p, int64_t next) {
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + next));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
  }
  static COLIBRI_INLINE F from_bf16(__m256i x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
  }
  static COLIBRI_INLINE __mmask16 first(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
  // GCC rebuilds sums of integers into wide trees and then spills them; this keeps the order
  // written here.
  static COLIBRI_INLINE __m512i pinned(__m512i x) {
    asm("" : "+v"(x));
    return x;
  }
};

}  // namespace
}  // namespace colibri::cpu
