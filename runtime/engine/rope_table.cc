// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/rope_table.h"

#include "runtime/base/portable_math.h"

namespace colibri::engine {

Result<RopeTable> RopeTable::create(const model::RopeSpec& rope, int64_t positions) {
  const colibri_math& math = portable_math_table();
  const int64_t pairs = rope.dims / 2;
  RopeTable table;
  table.values_ = positions * pairs;
  COLIBRI_ASSIGN(table.memory_,
                 Memory::allocate(bytes(rope, positions), "the rotary position table"));
  auto* cosine = reinterpret_cast<float*>(table.memory_.data());
  float* sine = cosine + table.values_;
  for (int64_t position = 0; position < positions; ++position) {
    for (int64_t i = 0; i < pairs; ++i) {
      const float angle = static_cast<float>(position) * rope.frequencies[static_cast<size_t>(i)];
      double s = 0, c = 0;
      math.sincos(angle, &s, &c);
      cosine[position * pairs + i] = static_cast<float>(c) * rope.magnitude;
      sine[position * pairs + i] = static_cast<float>(s) * rope.magnitude;
    }
  }
  return table;
}

}  // namespace colibri::engine
