// SPDX-License-Identifier: Apache-2.0
// Cosines and sines of rotary position embeddings, one table for all layers.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/engine/block.h"
#include "runtime/model/spec.h"

namespace colibri::engine {

// For positions [0, positions) and pairs i in [0, dims/2): the cosine and sine of
//   angle = position * frequency(i)
// times the magnitude, with every step rounded to f32 as transformers does it (modeling_rope_utils, default scaling), so
// that long contexts agree with checkpoints as they were trained. Immutable.
class RopeTable {
 public:
  static uint64_t bytes(const model::RopeSpec& rope, int64_t positions) {
    return static_cast<uint64_t>(positions * (rope.dims / 2)) * 2 * sizeof(float);
  }
  // queue: of the device that it is for; null = the CPU.
  static Result<RopeTable> create(const model::RopeSpec& rope, int64_t positions,
                                  plugin::DeviceQueue* queue = nullptr);

  // [positions, dims/2]; a device's table has a device's address.
  const float* cosine() const { return reinterpret_cast<const float*>(memory_.data()); }
  const float* sine() const { return cosine() + values_; }

 private:
  Block memory_;
  int64_t values_ = 0;
};

}  // namespace colibri::engine
