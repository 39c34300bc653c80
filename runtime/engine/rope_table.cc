// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/rope_table.h"

#include <utility>

#include "runtime/base/portable_math.h"

namespace colibri::engine {

Result<RopeTable> RopeTable::create(const model::RopeSpec& rope, int64_t positions,
                                    plugin::DeviceQueue* queue) {
  const colibri_math& math = portable_math_table();
  const int64_t pairs = rope.dims / 2;
  RopeTable table;
  table.values_ = positions * pairs;
  constexpr const char* kWhat = "the rotary position table";
  COLIBRI_ASSIGN(Memory memory, Memory::allocate(bytes(rope, positions), kWhat));
  auto* cosine = reinterpret_cast<float*>(memory.data());
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
  if (queue == nullptr) {
    table.memory_ = Block(std::move(memory));
    return table;
  }
  COLIBRI_ASSIGN(table.memory_, Block::allocate(&queue->device(), memory.size(), kWhat));
  if (memory.size() > 0) {
    COLIBRI_TRY(queue->copy_in(table.memory_.data(), 0, memory.data(), memory.size()));
  }
  return table;
}

}  // namespace colibri::engine
