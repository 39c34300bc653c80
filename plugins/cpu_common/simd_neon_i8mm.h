// SPDX-License-Identifier: Apache-2.0
// NEON with the int8 matrix extension. What the functions do is in simd.h.
#pragma once

#include "plugins/cpu_common/simd_neon_dotprod.h"

namespace colibri::cpu {
namespace {

// Of the extension only the mixed-sign dot is used. Its matrix product wants 8 columns of a row
// side by side, and the layout R8 has 4.
struct NeonI8mm : NeonDotprod {
  static COLIBRI_INLINE SumU dot_u(SumU sum, Bytes w, Bytes x) {
    return {{{vusdotq_s32(sum.rows.val[0], vreinterpretq_u8_s8(w.val[0]), x.val[0]),
              vusdotq_s32(sum.rows.val[1], vreinterpretq_u8_s8(w.val[1]), x.val[1])}}};
  }
};

}  // namespace
}  // namespace colibri::cpu
