// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/views.h"
#include "plugins/cpu_generic/operators.h"

namespace colibri::cpu_generic {

// Each pair (x, y) of a head becomes (x cos - y sin, y cos + x sin) (Su et al. 2021).
colibri_status rope(const OperatorState& state, const void* arguments, TaskRange tasks, void*) {
  const auto& call = *static_cast<const colibri_rope_args*>(arguments);
  const auto& a = state.rope;
  const int64_t pairs = a.dims / 2;
  const bool half = a.style == COLIBRI_ROPE_HALF;
  for (int64_t row = tasks.begin; row < tasks.end; ++row) {
    const int64_t position = call.position[row];
    if (position < 0) return COLIBRI_INVALID_ARGUMENT;
    for (int64_t head = 0; head < a.heads; ++head) {
      float* numbers = cpu::f32_row(call.x, row) + head * a.head_dim + a.first;
      for (int64_t i = 0; i < pairs; ++i) {
        float* first = numbers + (half ? i : 2 * i);
        float* second = numbers + (half ? i + pairs : 2 * i + 1);
        const float x = *first;
        const float y = *second;
        const float cosine = call.cosine[position * pairs + i];
        const float sine = call.sine[position * pairs + i];
        *first = x * cosine - y * sine;
        *second = y * cosine + x * sine;
      }
    }
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu_generic
