// SPDX-License-Identifier: Apache-2.0
// AVX2, FMA and F16C: one panel of 8 rows is one vector. What the functions do is in simd.h.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {
namespace {

struct Avx2 {
  static constexpr int kLanes = 8;
  static constexpr int kPanels = 1;
  using F = __m256;
  using I = __m256i;
  using Bytes = __m256i;
  static constexpr int kMostU = 129;  // 2 * 127 times it fits in int16
  static constexpr int kBias = 0;
  struct SumU {
    __m256i pairs;  // int16
  };
  struct SumS8 {
    __m256i rows;  // int32
  };

  static COLIBRI_INLINE F zero() { return _mm256_setzero_ps(); }
  static COLIBRI_INLINE F set(float x) { return _mm256_set1_ps(x); }
  static COLIBRI_INLINE F load(const float* p) { return _mm256_loadu_ps(p); }
  static COLIBRI_INLINE F load_first(const float* p, int64_t n) {
    return _mm256_maskload_ps(p, first(n));
  }
  static COLIBRI_INLINE void store(float* p, F x) { _mm256_storeu_ps(p, x); }
  static COLIBRI_INLINE void store_first(float* p, F x, int64_t n) {
    _mm256_maskstore_ps(p, first(n), x);
  }
  static COLIBRI_INLINE F load_f16(const uint16_t* p) { return _mm256_cvtph_ps(load_8x16(p)); }
  // All eight in both halves, then each to its place: one operation besides the load.
  static COLIBRI_INLINE F load_bf16(const uint16_t* p) {
    const __m256i places =
        _mm256_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7, -1, -1, 8, 9, -1,
                         -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15);
    return _mm256_castsi256_ps(
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_8x16(p)), places));
  }
  static COLIBRI_INLINE void store_f16(uint16_t* p, F x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }
  static COLIBRI_INLINE F add(F a, F b) { return _mm256_add_ps(a, b); }
  static COLIBRI_INLINE F sub(F a, F b) { return _mm256_sub_ps(a, b); }
  static COLIBRI_INLINE F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static COLIBRI_INLINE F div(F a, F b) { return _mm256_div_ps(a, b); }
  static COLIBRI_INLINE F min(F a, F b) { return _mm256_min_ps(a, b); }
  static COLIBRI_INLINE F max(F a, F b) { return _mm256_max_ps(a, b); }
  static COLIBRI_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static COLIBRI_INLINE F fnma(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }
  static COLIBRI_INLINE F negate(F a) { return _mm256_xor_ps(a, set(-0.0f)); }
  static COLIBRI_INLINE F round(F a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }

  static COLIBRI_INLINE I zero_i() { return _mm256_setzero_si256(); }
  static COLIBRI_INLINE I set_i(int32_t x) { return _mm256_set1_epi32(x); }
  static COLIBRI_INLINE I add_i(I a, I b) { return _mm256_add_epi32(a, b); }
  static COLIBRI_INLINE I sub_i(I a, I b) { return _mm256_sub_epi32(a, b); }
  static COLIBRI_INLINE I max_i(I a, I b) { return _mm256_max_epi32(a, b); }
  static COLIBRI_INLINE I half(I a) { return _mm256_srai_epi32(a, 1); }
  static COLIBRI_INLINE I round_to_int(F a) { return _mm256_cvtps_epi32(a); }
  static COLIBRI_INLINE F to_float(I a) { return _mm256_cvtepi32_ps(a); }
  static COLIBRI_INLINE I magnitude_bits(F a) {
    return _mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(0x7FFFFFFF));
  }
  static COLIBRI_INLINE F power_of_two(I n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  }
  static COLIBRI_INLINE int32_t most_of(I x) {
    __m128i y = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    y = _mm_max_epi32(y, _mm_shuffle_epi32(y, 0x4E));
    return _mm_cvtsi128_si32(_mm_max_epi32(y, _mm_shuffle_epi32(y, 0xB1)));
  }
  static COLIBRI_INLINE int32_t sum_of(I x) {
    __m128i y = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    y = _mm_add_epi32(y, _mm_shuffle_epi32(y, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(y, _mm_shuffle_epi32(y, 0xB1)));
  }
  static COLIBRI_INLINE void store_i8(int8_t* p, I x) {
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
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
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static COLIBRI_INLINE F load_panels_i8(const uint8_t* p, int64_t) {
    return to_float(_mm256_cvtepi8_epi32(load_8x8(p)));
  }
  static COLIBRI_INLINE F load_panels_e8(const uint8_t* p, int64_t) {
    const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu8_epi32(load_8x8(p)), 23);
    return _mm256_castsi256_ps(_mm256_max_epu32(bits, _mm256_set1_epi32(1 << 22)));
  }
  template <int shift>
  static COLIBRI_INLINE Bytes field(Bytes w, int mask) {
    if constexpr (shift > 0) w = _mm256_srli_epi16(w, shift);
    if constexpr (shift < 0) w = _mm256_slli_epi16(w, -shift);
    return _mm256_and_si256(w, _mm256_set1_epi8(static_cast<char>(mask)));
  }
  static COLIBRI_INLINE Bytes or_bytes(Bytes a, Bytes b) { return _mm256_or_si256(a, b); }
  static COLIBRI_INLINE Bytes load_table(const int8_t* table) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  }
  static COLIBRI_INLINE Bytes lookup(Bytes table, Bytes index) {
    return _mm256_shuffle_epi8(table, index);
  }
  static COLIBRI_INLINE Bytes broadcast(const int8_t* four) {
    int32_t x;
    std::memcpy(&x, four, 4);
    return _mm256_set1_epi32(x);
  }
  static COLIBRI_INLINE SumU begin_u(I) { return {_mm256_setzero_si256()}; }
  static COLIBRI_INLINE SumU dot_u(SumU sum, Bytes w, Bytes x) {
    return {pinned(_mm256_add_epi16(sum.pairs, _mm256_maddubs_epi16(w, x)))};
  }
  static COLIBRI_INLINE I total(SumU sum, I start) {
    return add_i(start, scaled(sum, set_pair(1)));
  }
  static COLIBRI_INLINE I scaled(SumU sum, I factors) {
    return _mm256_madd_epi16(sum.pairs, factors);
  }
  static COLIBRI_INLINE Bytes biased(Bytes w) { return w; }
  static COLIBRI_INLINE SumS8 begin_s8(I start) { return {start}; }
  // |w| is unsigned and its sign goes to x; 2 * 128 * 127 fits in int16.
  static COLIBRI_INLINE SumS8 dot_s8(SumS8 sum, Bytes w, Bytes x) {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
    return {pinned(_mm256_add_epi32(sum.rows, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))))};
  }
  static COLIBRI_INLINE I total(SumS8 sum, I) { return sum.rows; }

  static COLIBRI_INLINE I two_i16(const int16_t* p) {
    int32_t two;
    std::memcpy(&two, p, 4);
    return set_i(two);
  }
  static COLIBRI_INLINE I set_pair(int16_t x) { return _mm256_set1_epi16(x); }
  static COLIBRI_INLINE I load_pairs_i8(const uint8_t* p, int64_t) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  template <int shift>
  static COLIBRI_INLINE I pair_field(I pairs, int16_t mask) {
    if constexpr (shift > 0) pairs = _mm256_srli_epi16(pairs, shift);
    if constexpr (shift < 0) pairs = _mm256_slli_epi16(pairs, -shift);
    return _mm256_and_si256(pairs, _mm256_set1_epi16(mask));
  }
  static COLIBRI_INLINE I dot_pairs(I a, I b) { return _mm256_madd_epi16(a, b); }
  // Both halves of a lane, since dot_u leaves two sums there.
  static COLIBRI_INLINE I first_factors(I pairs) {
    return _mm256_blend_epi16(pairs, _mm256_slli_epi32(pairs, 16), 0xAA);
  }
  static COLIBRI_INLINE I second_factors(I pairs) {
    return _mm256_blend_epi16(_mm256_srli_epi32(pairs, 16), pairs, 0xAA);
  }

 private:
  static COLIBRI_INLINE __m128i load_8x8(const uint8_t* p) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  }
  static COLIBRI_INLINE __m128i load_8x16(const uint16_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static COLIBRI_INLINE __m256i first(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(n)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  // GCC rebuilds sums of integers into wide trees and then spills them; this keeps the order
  // written here.
  static COLIBRI_INLINE __m256i pinned(__m256i x) {
    asm("" : "+x"(x));
    return x;
  }
};

}  // namespace
}  // namespace colibri::cpu
