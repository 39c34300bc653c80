// SPDX-License-Identifier: Apache-2.0
// exp, log, pow and sincos made of + - * / fma and rounding to an integer only. libm differs
// between systems; these give the same bytes everywhere (docs/numerics.md, "Functions").
// Thread-safe.
//
// Special values are those of C's Annex F: exp(-inf) = 0, log(0) = -inf, log(x < 0) = NaN, pow(x,
// 0) = 1, and so on. Subnormal arguments and results are exact like all others.
#pragma once

#include "colibri/plugin.h"

namespace colibri {

// e^x, within 1 ulp. exp(0) is exactly 1.
float portable_exp(float x);
// The natural logarithm of x, within 1 ulp.
float portable_log(float x);
// x^y, within 1 ulp.
float portable_pow(float x, float y);
// Sine and cosine of an angle in radians, within 1 ulp of double for |angle| < 2^50; beyond that
// both are NaN, because an angle stored in a double has no fraction of a turn left to speak of.
void portable_sincos(double angle, double* sine, double* cosine);

// The four as the table that plugins get from the host.
const colibri_math& portable_math_table();

}  // namespace colibri
