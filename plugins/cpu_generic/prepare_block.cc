// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_generic/prepare_block.h"

#include <cmath>
#include <limits>

namespace colibri::cpu_generic {

void prepare_block(const float x[32], const cpu::PreparedRow& row, int64_t block) {
  float most = 0;
  bool finite = true;
  for (int i = 0; i < 32; ++i) {
    finite = finite && std::isfinite(x[i]);
    if (std::fabs(x[i]) > most) most = std::fabs(x[i]);
  }
  float scale = most / 127;
  if (scale < std::numeric_limits<float>::min()) scale = 0;  // its inverse could be infinite
  if (!finite) scale = std::numeric_limits<float>::quiet_NaN();
  const float inverse = scale > 0 ? 1 / scale : 0;  // 0 for NaN too

  int16_t* sum = row.sum + 2 * block;
  sum[0] = sum[1] = 0;
  for (int i = 0; i < 32; ++i) {
    const float rounded = finite ? std::rint(x[i] * inverse) : 0;  // ties to even
    row.q[block * 32 + i] = static_cast<int8_t>(rounded);
    sum[i / 16] = static_cast<int16_t>(sum[i / 16] + row.q[block * 32 + i]);
  }
  row.scale[block] = scale;
}

}  // namespace colibri::cpu_generic
