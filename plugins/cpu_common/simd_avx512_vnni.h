// SPDX-License-Identifier: Apache-2.0
// AVX-512 with VNNI: dots of bytes are one instruction. What the functions do is in simd.h.
#pragma once

#include "plugins/cpu_common/simd_avx512.h"

namespace colibri::cpu {
namespace {

struct Avx512Vnni : Avx512 {
  static constexpr int kMostU = 8 * 63;
  static constexpr int kBias = 128;
  struct SumU {
    __m512i rows;  // int32
  };
  struct SumS8 {
    __m512i rows;  // int32
  };

  static COLIBRI_INLINE SumU begin_u(I start) { return {start}; }
  static COLIBRI_INLINE SumU dot_u(SumU sum, Bytes w, Bytes x) {
    return {_mm512_dpbusd_epi32(sum.rows, w, x)};
  }
  static COLIBRI_INLINE I total(SumU sum, I) { return sum.rows; }
  static COLIBRI_INLINE I scaled(SumU sum, I factors) {
    return _mm512_mullo_epi32(sum.rows, factors);
  }
  // The instruction wants the weight unsigned.
  static COLIBRI_INLINE Bytes biased(Bytes w) {
    return _mm512_xor_si512(w, _mm512_set1_epi8(-128));
  }
  static COLIBRI_INLINE SumS8 begin_s8(I start) { return {start}; }
  static COLIBRI_INLINE SumS8 dot_s8(SumS8 sum, Bytes biased, Bytes x) {
    return {_mm512_dpbusd_epi32(sum.rows, biased, x)};
  }
  static COLIBRI_INLINE I total(SumS8 sum, I) { return sum.rows; }

  static COLIBRI_INLINE I first_factors(I pairs) {
    return _mm512_srai_epi32(_mm512_slli_epi32(pairs, 16), 16);
  }
  static COLIBRI_INLINE I second_factors(I pairs) { return _mm512_srai_epi32(pairs, 16); }
};

}  // namespace
}  // namespace colibri::cpu
