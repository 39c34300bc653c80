// SPDX-License-Identifier: Apache-2.0
// A product of a plan, computed by a plugin of choice with weights of its own, which are zero.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/bench/trial.h"

namespace colibri::bench {

class Product : public Trial {
 public:
  // of: a grouped_matmul; `groups` sets of its weights. COLIBRI_UNSUPPORTED if the plugin does not
  // compute it.
  static Result<std::unique_ptr<Product>> create(const engine::Plan& plan,
                                                 const std::string& plugin_id,
                                                 const engine::OperatorDesc& of, int64_t groups);

  // The same with as many sets as take `bytes` bytes, and at least `least_groups`.
  static Result<std::unique_ptr<Trial>> create_cycle(const engine::Plan& plan,
                                                     const std::string& plugin_id,
                                                     const engine::OperatorDesc& of,
                                                     int64_t least_groups, uint64_t bytes);

  // One call on as many of the sets, the next ones with each call.
  Status run(engine::PhaseRunner& runner, const Shape& shape) override;
  Work work(const Shape& shape) const override;

 private:
  explicit Product(plugin::KernelChooser chooser) : Trial(std::move(chooser)) {}
  Status place_weights(const engine::OperatorDesc& of, int64_t groups,
                       const std::vector<engine::Packing>& packings);
  Status hold_rows(int64_t rows);

  colibri_grouped_matmul_attributes attributes_ = {};
  uint64_t group_bytes_ = 0;
  Memory weight_memory_, bias_memory_, input_, output_;
  std::vector<colibri_tensor> weights_, biases_;
  int64_t weights_per_group_ = 1, groups_ = 0, rows_held_ = 0, next_ = 0;
};

}  // namespace colibri::bench
