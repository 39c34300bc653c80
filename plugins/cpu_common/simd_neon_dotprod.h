// SPDX-License-Identifier: Apache-2.0
// NEON with the dot product extension: four columns of a row are one instruction. What the
// functions do is in simd.h.
#pragma once

#include "plugins/cpu_common/simd_neon.h"

namespace colibri::cpu {
namespace {

struct NeonDotprod : Neon {
  static constexpr int kMostU = 8 * 63;
  struct SumU {
    I rows;
  };
  struct SumS8 {
    I rows;
  };

  static COLIBRI_INLINE SumU begin_u(I start) { return {start}; }
  static COLIBRI_INLINE SumU dot_u(SumU sum, Bytes w, Bytes x) { return {dot(sum.rows, w, x)}; }
  static COLIBRI_INLINE I total(SumU sum, I) { return sum.rows; }
  static COLIBRI_INLINE I scaled(SumU sum, I factors) { return mul_i(sum.rows, factors); }
  static COLIBRI_INLINE SumS8 begin_s8(I start) { return {start}; }
  static COLIBRI_INLINE SumS8 dot_s8(SumS8 sum, Bytes w, Bytes x) { return {dot(sum.rows, w, x)}; }
  static COLIBRI_INLINE I total(SumS8 sum, I) { return sum.rows; }

 private:
  static COLIBRI_INLINE I dot(I sum, Bytes w, Bytes x) {
    return {{vdotq_s32(sum.val[0], w.val[0], x.val[0]), vdotq_s32(sum.val[1], w.val[1], x.val[1])}};
  }
};

}  // namespace
}  // namespace colibri::cpu
