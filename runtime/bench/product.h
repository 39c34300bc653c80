// SPDX-License-Identifier: Apache-2.0
// A product of a plan, computed by a plugin of choice with weights of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/engine/operator.h"
#include "runtime/engine/phase.h"
#include "runtime/plugin/kernel_chooser.h"
#include "runtime/plugin/registry.h"

namespace colibri::bench {

class Product {
 public:
  // of: a grouped_matmul; `groups` sets of its weights. COLIBRI_UNSUPPORTED if the plugin does not
  // compute it.
  static Result<std::unique_ptr<Product>> create(const plugin::Registry& registry,
                                                 const std::string& plugin_id,
                                                 const engine::OperatorDesc& of, int64_t groups);

  // One call on `groups` of the sets, the next ones with each call, with `rows` rows each.
  Status run(engine::PhaseRunner& runner, int64_t groups, int64_t rows);

  uint64_t scratch_bytes() const { return operators_.scratch_bytes(); }
  uint64_t group_bytes() const { return group_bytes_; }

 private:
  explicit Product(plugin::KernelChooser chooser)
      : chooser_(std::move(chooser)), operators_(chooser_) {}
  Status place_weights(const engine::OperatorDesc& of, int64_t groups,
                       const std::vector<engine::Packing>& packings);
  Status hold_rows(int64_t rows);

  const plugin::KernelChooser chooser_;
  engine::OperatorSet operators_;
  const engine::Operator* operator_ = nullptr;
  colibri_grouped_matmul_attributes attributes_ = {};
  uint64_t group_bytes_ = 0;
  Memory weight_memory_, bias_memory_, input_, output_;
  std::vector<colibri_tensor> weights_, biases_;
  int64_t weights_per_group_ = 1, groups_ = 0, rows_held_ = 0, next_ = 0;
};

}  // namespace colibri::bench
