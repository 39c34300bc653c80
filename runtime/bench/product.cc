// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/product.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/engine/arguments.h"
#include "runtime/engine/rows.h"

namespace colibri::bench {

using engine::Rows;

Result<std::unique_ptr<Product>> Product::create(const engine::Plan& plan,
                                                 const std::string& plugin_id,
                                                 const engine::OperatorDesc& of, int64_t groups) {
  COLIBRI_ASSIGN(plugin::KernelChooser chooser, pinned(plan, plugin_id, of));
  std::unique_ptr<Product> made(new Product(std::move(chooser)));
  std::vector<engine::Packing> packings;
  COLIBRI_TRY(made->create_operator(of, &packings));
  std::memcpy(&made->attributes_, of.get().attributes, sizeof(made->attributes_));
  COLIBRI_TRY(made->place_weights(of, groups, packings));
  return made;
}

Result<std::unique_ptr<Trial>> Product::create_cycle(const engine::Plan& plan,
                                                     const std::string& plugin_id,
                                                     const engine::OperatorDesc& of,
                                                     int64_t least_groups, uint64_t bytes) {
  // How many follows from their size, which the first ones tell.
  COLIBRI_ASSIGN(auto made, create(plan, plugin_id, of, least_groups));
  const auto groups = static_cast<int64_t>(bytes / std::max<uint64_t>(made->group_bytes_, 1)) + 1;
  if (groups > least_groups) {
    COLIBRI_ASSIGN(made, create(plan, plugin_id, of, groups));
  }
  return std::unique_ptr<Trial>(std::move(made));
}

Status Product::place_weights(const engine::OperatorDesc& of, int64_t groups,
                              const std::vector<engine::Packing>& packings) {
  const colibri_op_desc desc = of.get();
  groups_ = groups;
  weights_per_group_ = desc.weight_count;
  for (const engine::Packing& packing : packings) group_bytes_ += align_up(packing.bytes);
  const auto count = static_cast<uint64_t>(groups);
  COLIBRI_ASSIGN(weight_memory_, Memory::allocate(count * group_bytes_, "weights of a kernel"));
  const auto bias_bytes = align_up(static_cast<uint64_t>(desc.weights[0].shape[0]) * 4);
  COLIBRI_ASSIGN(bias_memory_, Memory::allocate(bias_bytes, "a bias"));
  std::byte* at = weight_memory_.data();
  for (int64_t group = 0; group < groups; ++group) {
    for (uint32_t i = 0; i < desc.weight_count; ++i) {
      const engine::Packing& packing = packings[i];
      COLIBRI_ASSIGN(colibri_tensor weight, pack_zeros(packing, desc.weights[i], at));
      weights_.push_back(weight);
      biases_.push_back(engine::vector(weight.shape[0], bias_memory_.data()));
      at += align_up(packing.bytes);
    }
  }
  return {};
}

Status Product::hold_rows(int64_t rows) {
  if (rows <= rows_held_) return {};
  const colibri_tensor& weight = weights_.front();
  COLIBRI_ASSIGN(input_, Memory::allocate(
                             Rows::bytes(attributes_.input_dtype, rows, weight.shape[1]), "rows"));
  COLIBRI_ASSIGN(
      output_,
      Memory::allocate(Rows::bytes(attributes_.output_dtype, rows, weight.shape[0]), "rows"));
  rows_held_ = rows;
  return {};
}

Status Product::run(engine::PhaseRunner& runner, const Shape& shape) {
  const auto [groups, rows] = shape;
  COLIBRI_TRY(hold_rows(groups * rows));
  if (next_ + groups > groups_) next_ = 0;
  std::vector<int64_t> begin;
  for (int64_t i = 0; i <= groups; ++i) begin.push_back(i * rows);
  const colibri_tensor& weight = weights_.front();
  auto call = engine::arguments<colibri_grouped_matmul_args>();
  call.weights_per_group = static_cast<uint32_t>(weights_per_group_);
  call.groups = groups;
  call.group_begin = begin.data();
  call.weight = weights_.data() + next_ * weights_per_group_;
  call.input = Rows(attributes_.input_dtype, weight.shape[1], input_.data()).view(groups * rows);
  call.output = Rows(attributes_.output_dtype, weight.shape[0], output_.data()).view(groups * rows);
  if (attributes_.bias != 0) call.bias = biases_.data() + next_ * weights_per_group_;
  next_ += groups;
  return runner.run({{&op(), &call}});
}

Work Product::work(const Shape& shape) const {
  double operations = 0;
  for (int64_t i = 0; i < weights_per_group_; ++i) {
    const colibri_tensor& weight = weights_[static_cast<size_t>(i)];
    operations += 2.0 * static_cast<double>(weight.shape[0] * weight.shape[1]);
  }
  operations *= static_cast<double>(shape.groups * shape.rows);
  Work work;
  (attributes_.input_dtype == COLIBRI_CODEC_Q8_32 ? work.int8 : work.f32) = operations;
  work.bytes = static_cast<double>(shape.groups) * static_cast<double>(group_bytes_);
  return work;
}

}  // namespace colibri::bench
