// SPDX-License-Identifier: Apache-2.0
// What grouped_matmul makes of its sums, number by number.
#pragma once

#include "colibri/kernels.h"

namespace colibri::cpu {

// x, at most `limit` away from 0, if that is not 0; NaN stays NaN.
inline float clamped(float x, float limit) {
  if (limit == 0) return x;
  if (x > limit) return limit;
  return x < -limit ? -limit : x;
}

// act(gate) * up
inline float gated(const colibri_grouped_matmul_attributes& a, const colibri_math& math, float gate,
                   float up) {
  if (a.clamp != 0 && gate > a.clamp) gate = a.clamp;
  up = clamped(up, a.clamp);
  if (a.activation == COLIBRI_ACTIVATION_SILU) {
    const float alpha = a.alpha == 0 ? 1 : a.alpha;
    gate = gate / (1 + math.exp(-alpha * gate));
  }
  if (a.up_offset != 0) up = up + a.up_offset;
  return gate * up;
}

// One output. sums: the product with its bias, or those of gate and up.
inline float finished(const colibri_grouped_matmul_attributes& a, const colibri_math& math,
                      const float (&sums)[2]) {
  if (a.epilogue == COLIBRI_EPILOGUE_GATED) return gated(a, math, sums[0], sums[1]);
  const float x = clamped(sums[0], a.clamp);
  if (a.activation == COLIBRI_ACTIVATION_NONE) return x;
  return 1 / (1 + math.exp(-x));  // sigmoid
}

}  // namespace colibri::cpu
