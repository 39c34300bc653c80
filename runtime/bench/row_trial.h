// SPDX-License-Identifier: Apache-2.0
// Operators that compute each row by itself: embed, norm, quantize_rows, rope, router, combine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/bench/trial.h"
#include "runtime/engine/rows.h"

namespace colibri::bench {

class RowTrial : public Trial {
 public:
  // As create_trial(). Rows whose width the operator does not say are as wide as the model's.
  static Result<std::unique_ptr<Trial>> create(const engine::Plan& plan,
                                               const std::string& plugin_id,
                                               const engine::OperatorDesc& of, int64_t rows);

  Status run(engine::PhaseRunner& runner, const Shape& shape) override {
    return call_(runner, shape.rows);
  }
  Work work(const Shape&) const override { return {}; }  // that no limit of the machine measures

 private:
  using Call = std::function<Status(engine::PhaseRunner&, int64_t rows)>;

  explicit RowTrial(plugin::KernelChooser chooser) : Trial(std::move(chooser)) {}
  Result<Call> call_of(const engine::Plan& plan, const colibri_op_desc& desc,
                       const std::vector<engine::Packing>& packings, int64_t rows);
  Result<Call> embed(const engine::Plan& plan, const colibri_op_desc& desc,
                     const engine::Packing& packing, int64_t rows);
  Result<Call> norm(const colibri_op_desc& desc, int64_t rows);
  Result<Call> quantize(const engine::Plan& plan, const colibri_op_desc& desc, int64_t rows);
  Result<Call> rope(const engine::Plan& plan, const colibri_op_desc& desc, int64_t rows);
  Result<Call> router(const colibri_op_desc& desc, int64_t rows);
  Result<Call> combine(const engine::Plan& plan, const colibri_op_desc& desc, int64_t rows);

  // Memory that lives as long as this, of zeros.
  Result<std::byte*> take(uint64_t bytes);
  Result<engine::Rows> take_rows(uint32_t dtype, int64_t rows, int64_t cols);
  // f32, made up.
  Result<engine::Rows> take_numbers(int64_t rows, int64_t cols);

  std::vector<Memory> memory_;
  Call call_;
};

}  // namespace colibri::bench
