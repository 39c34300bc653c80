// SPDX-License-Identifier: Apache-2.0
// The key-value cache of one sequence: all layers, in the blocks of 16 keys that kernels.h
// describes.
#pragma once

#include <cstdint>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/base/status.h"
#include "runtime/engine/block.h"
#include "runtime/model/spec.h"

namespace colibri::engine {

class KvCache {
 public:
  static uint64_t bytes(const model::ModelSpec& spec, uint32_t codec, int64_t max_tokens);
  // device: null = the host's memory.
  static Result<KvCache> create(const model::ModelSpec& spec, uint32_t codec, int64_t max_tokens,
                                const plugin::Device* device = nullptr);

  const colibri_tensor* k(size_t layer) const { return &k_[layer]; }
  const colibri_tensor* v(size_t layer) const { return &v_[layer]; }

 private:
  Block memory_;
  std::vector<colibri_tensor> k_, v_;  // by layer
};

}  // namespace colibri::engine
