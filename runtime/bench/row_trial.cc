// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/row_trial.h"

#include <cstring>
#include <utility>

#include "runtime/engine/arguments.h"
#include "runtime/engine/random.h"
#include "runtime/engine/rope_table.h"

namespace colibri::bench {

using engine::arguments;
using engine::PhaseRunner;
using engine::Rows;

namespace {

template <typename Attributes>
Attributes attributes_of(const colibri_op_desc& desc) {
  Attributes attributes;
  std::memcpy(&attributes, desc.attributes, sizeof(attributes));
  return attributes;
}

}  // namespace

Result<std::unique_ptr<Trial>> RowTrial::create(const engine::Plan& plan,
                                                const std::string& plugin_id,
                                                const engine::OperatorDesc& of, int64_t rows) {
  COLIBRI_ASSIGN(plugin::KernelChooser chooser, pinned(plan, plugin_id, of));
  std::unique_ptr<RowTrial> made(new RowTrial(std::move(chooser)));
  std::vector<engine::Packing> packings;
  COLIBRI_TRY(made->create_operator(of, &packings));
  COLIBRI_ASSIGN(made->call_, made->call_of(plan, of.get(), packings, rows));
  return std::unique_ptr<Trial>(std::move(made));
}

Result<RowTrial::Call> RowTrial::call_of(const engine::Plan& plan, const colibri_op_desc& desc,
                                         const std::vector<engine::Packing>& packings,
                                         int64_t rows) {
  switch (desc.op) {
    case COLIBRI_OP_EMBED:
      return embed(plan, desc, packings.front(), rows);
    case COLIBRI_OP_NORM:
      return norm(desc, rows);
    case COLIBRI_OP_QUANTIZE_ROWS:
      return quantize(plan, desc, rows);
    case COLIBRI_OP_ROPE:
      return rope(plan, desc, rows);
    case COLIBRI_OP_ROUTER:
      return router(desc, rows);
    case COLIBRI_OP_COMBINE:
      return combine(plan, desc, rows);
    default:
      return internal_error("no trial of operator " + std::to_string(desc.op));
  }
}

Result<RowTrial::Call> RowTrial::embed(const engine::Plan& plan, const colibri_op_desc& desc,
                                       const engine::Packing& packing, int64_t rows) {
  colibri_tensor table = desc.weights[0];
  if (table.layout == COLIBRI_LAYOUT_ROWS) {
    COLIBRI_ASSIGN(std::byte * to, take(packing.bytes));
    COLIBRI_ASSIGN(table, pack_zeros(packing, table, to));
  } else {  // tied: as the head has packed it, and zeros are zeros in every layout
    COLIBRI_ASSIGN(table.buffer, take(plan.layers.embedding->packing.bytes));
  }
  COLIBRI_ASSIGN(std::byte * memory, take(static_cast<uint64_t>(rows) * sizeof(int32_t)));
  auto* ids = reinterpret_cast<int32_t*>(memory);
  engine::Random random(0);
  for (int64_t i = 0; i < rows; ++i) {
    ids[i] = static_cast<int32_t>(random.next() * static_cast<double>(table.shape[0]));
  }
  COLIBRI_ASSIGN(const Rows output, take_rows(COLIBRI_CODEC_F32, rows, table.shape[1]));
  return Call([this, table, ids, output](PhaseRunner& runner, int64_t n) {
    auto call = arguments<colibri_embed_args>();
    call.table = table;
    call.ids = engine::vector(n, ids);
    call.ids.dtype = COLIBRI_CODEC_I32;
    call.output = output.view(n);
    return runner.run_light(n, {{&op(), &call}});
  });
}

Result<RowTrial::Call> RowTrial::norm(const colibri_op_desc& desc, int64_t rows) {
  const int64_t cols = desc.weights[0].shape[0];
  const auto attributes = attributes_of<colibri_norm_attributes>(desc);
  COLIBRI_ASSIGN(std::byte * zeros, take(static_cast<uint64_t>(cols) * sizeof(float)));
  COLIBRI_ASSIGN(const Rows input, take_numbers(rows, cols));
  COLIBRI_ASSIGN(const Rows output, take_rows(attributes.output_dtype, rows, cols));
  return Call([this, cols, zeros, input, output](PhaseRunner& runner, int64_t n) {
    auto call = arguments<colibri_norm_args>();
    call.weight = engine::vector(cols, zeros);
    call.input = input.view(n);
    call.output = output.view(n);
    return runner.run_light(n, {{&op(), &call}});
  });
}

Result<RowTrial::Call> RowTrial::quantize(const engine::Plan& plan, const colibri_op_desc& desc,
                                          int64_t rows) {
  const int64_t cols = plan.spec.hidden / 32 * 32;
  const auto attributes = attributes_of<colibri_quantize_rows_attributes>(desc);
  COLIBRI_ASSIGN(const Rows input, take_numbers(rows, cols));
  COLIBRI_ASSIGN(const Rows output, take_rows(attributes.output_dtype, rows, cols));
  return Call([this, input, output](PhaseRunner& runner, int64_t n) {
    const auto call = engine::quantize_arguments(input.view(n), output.view(n));
    return runner.run_light(n, {{&op(), &call}});
  });
}

Result<RowTrial::Call> RowTrial::rope(const engine::Plan& plan, const colibri_op_desc& desc,
                                      int64_t rows) {
  const auto attributes = attributes_of<colibri_rope_attributes>(desc);
  COLIBRI_ASSIGN(auto table, engine::RopeTable::create(plan.spec.rope, plan.max_tokens));
  const auto shared = std::make_shared<engine::RopeTable>(std::move(table));
  COLIBRI_ASSIGN(std::byte * memory, take(static_cast<uint64_t>(rows) * sizeof(int32_t)));
  auto* position = reinterpret_cast<int32_t*>(memory);
  for (int64_t i = 0; i < rows; ++i) position[i] = static_cast<int32_t>(i % plan.max_tokens);
  COLIBRI_ASSIGN(const Rows x, take_numbers(rows, attributes.heads * attributes.head_dim));
  return Call([this, shared, position, x](PhaseRunner& runner, int64_t n) {
    auto call = arguments<colibri_rope_args>();
    call.x = x.view(n);
    call.position = position;
    call.cosine = shared->cosine();
    call.sine = shared->sine();
    return runner.run_light(n, {{&op(), &call}});
  });
}

Result<RowTrial::Call> RowTrial::router(const colibri_op_desc& desc, int64_t rows) {
  const auto attributes = attributes_of<colibri_router_attributes>(desc);
  const auto experts = static_cast<int64_t>(attributes.experts);
  COLIBRI_ASSIGN(const Rows logits, take_numbers(rows, experts));
  COLIBRI_ASSIGN(std::byte * bias, take(static_cast<uint64_t>(experts) * sizeof(float)));
  COLIBRI_ASSIGN(const Rows expert, take_rows(COLIBRI_CODEC_F32, rows, attributes.top_k));
  COLIBRI_ASSIGN(const Rows score, take_rows(COLIBRI_CODEC_F32, rows, attributes.top_k));
  return Call([this, attributes, logits, bias, expert, score](PhaseRunner& runner, int64_t n) {
    auto call = arguments<colibri_router_args>();
    call.input = logits.view(n);
    call.expert = expert.view(n);
    call.expert.dtype = COLIBRI_CODEC_I32;
    call.score = score.view(n);
    const auto* numbers = reinterpret_cast<const float*>(bias);
    if (attributes.bias != 0) call.bias = numbers;
    if (attributes.select_bias != 0) call.select_bias = numbers;
    return runner.run_light(n, {{&op(), &call}});
  });
}

Result<RowTrial::Call> RowTrial::combine(const engine::Plan& plan, const colibri_op_desc& desc,
                                         int64_t rows) {
  const auto attributes = attributes_of<colibri_combine_attributes>(desc);
  const auto slots = static_cast<int64_t>(attributes.slots);
  COLIBRI_ASSIGN(const Rows residual, take_rows(COLIBRI_CODEC_F32, rows, plan.spec.hidden));
  COLIBRI_ASSIGN(const Rows added, take_numbers(rows * slots, plan.spec.hidden));
  COLIBRI_ASSIGN(std::byte * weight, take(static_cast<uint64_t>(rows * slots) * sizeof(float)));
  return Call([this, slots, residual, added, weight](PhaseRunner& runner, int64_t n) {
    auto call = arguments<colibri_combine_args>();
    call.residual = residual.view(n);
    call.row = added.view(n * slots);
    call.weight = reinterpret_cast<const float*>(weight);
    call.output = residual.view(n);
    return runner.run_light(n, {{&op(), &call}});
  });
}

Result<std::byte*> RowTrial::take(uint64_t bytes) {
  COLIBRI_ASSIGN(Memory memory, Memory::allocate(align_up(bytes), "data of a kernel"));
  memory_.push_back(std::move(memory));
  return memory_.back().data();
}

Result<Rows> RowTrial::take_rows(uint32_t dtype, int64_t rows, int64_t cols) {
  COLIBRI_ASSIGN(std::byte * memory, take(Rows::bytes(dtype, rows, cols)));
  return Rows(dtype, cols, memory);
}

Result<Rows> RowTrial::take_numbers(int64_t rows, int64_t cols) {
  COLIBRI_ASSIGN(const Rows made, take_rows(COLIBRI_CODEC_F32, rows, cols));
  auto* numbers = static_cast<float*>(made.view(rows).buffer);
  engine::Random random(0);
  // Drawn for one row: the draws are slow, and no kernel compares rows.
  for (int64_t i = 0; i < cols; ++i) numbers[i] = static_cast<float>(2 * random.next() - 1);
  for (int64_t i = 1; i < rows; ++i) {
    std::memcpy(numbers + i * cols, numbers, static_cast<size_t>(cols) * sizeof(float));
  }
  return made;
}

}  // namespace colibri::bench
