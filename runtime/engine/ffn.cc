// SPDX-License-Identifier: Apache-2.0
// What follows a layer's second norm: the experts that the router chooses, and the ffn that every
// token takes (a shared expert, or all of a dense layer).
#include <algorithm>
#include <string>

#include "runtime/engine/arguments.h"
#include "runtime/engine/batch.h"

namespace colibri::engine {

using experts::ExpertPlace;

namespace {

const float* values(const Placed* placed) {
  return placed == nullptr ? nullptr : reinterpret_cast<const float*>(address(placed->tensor));
}
const float* values(const colibri_tensor& tensor) {
  return reinterpret_cast<const float*>(address(tensor));
}

}  // namespace

colibri_tensor Batch::view(const Placed& placed, const std::byte* bundle, std::byte* bundles) {
  colibri_tensor tensor = placed.tensor;
  if (bundle == nullptr) return tensor;
  tensor.buffer = bundles == nullptr ? const_cast<std::byte*>(bundle) : bundles;
  tensor.offset =
      placed.offset + (bundles == nullptr ? 0 : static_cast<uint64_t>(bundle - bundles));
  return tensor;
}

Status Batch::feed_forward(const Layer& layer, const Layer* next, int64_t rows, uint64_t step) {
  const auto norm =
      norm_arguments(layer.ffn_norm, work_.residual.view(rows), work_.normed.view(rows));
  COLIBRI_TRY(runner_.run_light(rows, {{layer.ffn_norm.op, &norm}}));
  const auto prepare =
      quantize_arguments(work_.normed.view(rows), work_.normed_prepared.view(rows));
  COLIBRI_TRY(runner_.run_light(rows, {{layer.quantize_ffn_input, &prepare}}));
  if (layer.routed) COLIBRI_TRY(choose_experts(*layer.routed, rows, step));
  if (layer.routed && next != nullptr && next->routed && rows <= Workspace::kGuessRows &&
      next->routed->place != ExpertPlace::kDevice && visit_ != nullptr && visit_->guesses()) {
    COLIBRI_TRY(guess_experts(*next, rows));
  }
  // A shared expert computes while missing ones are read.
  if (layer.always.gate_up != nullptr) COLIBRI_TRY(run_always(layer.always, rows));
  if (layer.routed) COLIBRI_TRY(run_experts(*layer.routed, rows));
  if (layer.always.gate_up == nullptr) return {};
  const bool weighed = layer.routed && layer.routed->shared_gate.op != nullptr;
  return add(layer, rows, weighed ? values(work_.shared_weight.view(rows)) : nullptr);
}

Status Batch::run_always(const Ffn& ffn, int64_t rows) {
  const int64_t begin[2] = {0, rows};
  const experts::Visit::Lease dense;
  const Rows& input = prepared(*ffn.gate) ? work_.normed_prepared : work_.normed;
  return run_ffn(ffn, {1, begin, nullptr}, {&dense, 1},
                 {input.view(rows), work_.branch.view(rows), work_.rows.data(), work_.inner});
}

Status Batch::choose(const RoutedFfn& routed, const colibri_tensor& normed,
                     const colibri_tensor& prepared, const Workspace::Choice& to) {
  const int64_t rows = normed.shape[0], top_k = parts_.spec->top_k;
  const colibri_tensor logits = to.logits.view(rows);
  const Product router(routed.router, normed, prepared, logits);
  COLIBRI_TRY(runner_.run({{routed.router.op, router.get()}}));
  auto choose = arguments<colibri_router_args>();
  choose.input = logits;
  choose.expert = at(matrix(COLIBRI_CODEC_I32, COLIBRI_LAYOUT_ROWS, rows, top_k), to.chosen.there);
  choose.expert.stride[0] = top_k * 4;
  choose.expert.stride[1] = 4;
  choose.score = to.score.view(rows);
  choose.select_bias = values(routed.select_bias);
  return runner_.run_light(rows, {{routed.choose, &choose}});
}

Status Batch::fetch_chosen(const RoutedFfn& routed, const Workspace::Choice& choice, int64_t rows) {
  const int64_t n = rows * parts_.spec->top_k;
  COLIBRI_TRY(fetch(choice.chosen, n));
  for (int64_t i = 0; i < n; ++i) {
    const int32_t expert = choice.chosen.host[i];
    if (expert >= 0 && expert < parts_.spec->experts) continue;
    return internal_error("plugin " + routed.choose->choice().plugin->id() +
                          ": the router chose expert " + std::to_string(expert) + " of " +
                          std::to_string(parts_.spec->experts));
  }
  return {};
}

Status Batch::guess_experts(const Layer& next, int64_t rows) {
  const colibri_tensor normed = work_.guess_normed.view(rows);
  const colibri_tensor prepared = work_.guess_prepared.view(rows);
  const auto norm = norm_arguments(next.ffn_norm, work_.residual.view(rows), normed);
  COLIBRI_TRY(runner_.run_light(rows, {{next.ffn_norm.op, &norm}}));
  if (engine::prepared(*next.routed->router.weight)) {
    const auto prepare = quantize_arguments(normed, prepared);
    COLIBRI_TRY(runner_.run_light(rows, {{next.quantize_ffn_input, &prepare}}));
  }
  COLIBRI_TRY(choose(*next.routed, normed, prepared, work_.guess));
  COLIBRI_TRY(fetch_chosen(*next.routed, work_.guess, rows));
  guessed_.clear();
  const int64_t top_k = parts_.spec->top_k;
  for (int64_t rank = 0; rank < top_k; ++rank) {
    for (int64_t row = 0; row < rows; ++row) {
      const int32_t expert = work_.guess.chosen.host[row * top_k + rank];
      if (std::find(guessed_.begin(), guessed_.end(), expert) != guessed_.end()) continue;
      if (parts_.device_experts != nullptr &&
          parts_.device_experts->tier().has(next.routed->index, static_cast<uint32_t>(expert))) {
        continue;
      }
      guessed_.push_back(expert);
    }
  }
  visit_->expect(next.routed->store_layer, guessed_);
  return {};
}

Status Batch::choose_experts(const RoutedFfn& routed, int64_t rows, uint64_t step) {
  COLIBRI_TRY(
      choose(routed, work_.normed.view(rows), work_.normed_prepared.view(rows), work_.choice));
  if (parts_.place() == PassPlace::kDeviceButExperts && routed.place != ExpertPlace::kDevice) {
    const bool integers = prepared(*routed.expert.gate);
    COLIBRI_TRY(
        fetch_later((integers ? work_.normed_prepared : work_.normed).view(rows),
                    (integers ? work_.host_normed_prepared : work_.host_normed).view(rows)));
  }
  COLIBRI_TRY(fetch_chosen(routed, work_.choice, rows));
  const int32_t* const chosen = work_.choice.chosen.host;
  if (parts_.route_trace != nullptr) {
    COLIBRI_TRY(
        parts_.route_trace->record(step, routed.index, static_cast<uint32_t>(rows), chosen));
  }
  routing_.begin(chosen, rows);
  std::span<const int32_t> here = routing_.distinct();
  if (stay_ != nullptr) {
    // The queue was waited for when the choice was fetched.
    COLIBRI_TRY(parts_.device_experts->tier().begin(*stay_, step, routed.index, here));
    here = stay_->elsewhere;
  }
  if (visit_ == nullptr) return {};
  if (!here.empty()) return visit_->begin(step, routed.store_layer, here);
  visit_->end();
  return {};
}

Status Batch::run_wave(const Ffn& ffn, std::span<const experts::Visit::Lease> wave,
                       std::byte* there, int64_t rows) {
  routing_.begin_wave();
  for (const experts::Visit::Lease& lease : wave) {
    routing_.add(static_cast<int32_t>(lease.expert));
  }
  const int64_t product_rows = routing_.group_begin()[routing_.groups()];
  Groups groups = {routing_.groups(), routing_.group_begin(), routing_.token_of_row()};
  const bool integers = prepared(*ffn.gate);
  if (there == nullptr && parts_.place() == PassPlace::kDeviceButExperts) {
    const Rows& input = integers ? work_.host_normed_prepared : work_.host_normed;
    return run_ffn(ffn, groups, wave,
                   {input.view(rows), work_.host_expert_out.view(product_rows), work_.host_inner});
  }
  COLIBRI_ASSIGN(groups.row_index, given(groups.row_index, work_.token_of_row, product_rows));
  const Rows& input = integers ? work_.normed_prepared : work_.normed;
  return run_ffn(ffn, groups, wave,
                 {input.view(rows), work_.expert_out.view(product_rows), work_.rows.data(),
                  work_.inner, there});
}

Status Batch::run_on_device(const RoutedFfn& routed, int64_t rows) {
  if (stay_ == nullptr || stay_->there.empty()) return {};
  const DeviceExperts& experts = *parts_.device_experts;
  on_device_.clear();
  for (const experts::Stay::Place& place : stay_->there) {
    on_device_.push_back({place.expert, experts.memory() + experts.offset(place.slot)});
  }
  const Ffn& ffn = routed.place == ExpertPlace::kDevice ? routed.expert : routed.tier_expert;
  return run_wave(ffn, on_device_, experts.memory(), rows);
}

Status Batch::copy_coming(std::span<const experts::Visit::Lease> wave, uint64_t bytes) {
  for (const experts::Visit::Lease& lease : wave) {
    for (size_t i = 0; i < stay_->coming.size(); ++i) {
      const experts::Stay::Place& place = stay_->coming[i];
      if (place.expert != lease.expert) continue;
      const DeviceExperts& there = *parts_.device_experts;
      COLIBRI_TRY(
          runner_.queue()->copy_in(there.memory(), there.offset(place.slot), lease.data, bytes));
      stay_->arrived(i);
    }
  }
  return {};
}

Status Batch::copy_rows_there(int64_t first, int64_t rows) {
  if (rows == 0) return {};
  const colibri_tensor from = work_.host_expert_out.view(first, rows);
  return runner_.queue()->copy_in(work_.rows.data(), work_.expert_out.view(first, rows).offset,
                                  address(from), static_cast<uint64_t>(rows * from.stride[0]));
}

Status Batch::run_experts(const RoutedFfn& routed, int64_t rows) {
  // What is on a device computes there while the host does the others.
  COLIBRI_TRY(run_on_device(routed, rows));
  const int64_t there = routing_.rows();
  while (visit_ != nullptr) {
    COLIBRI_ASSIGN(const auto wave, next_wave());
    if (wave.empty()) break;
    COLIBRI_TRY(run_wave(routed.expert, wave, nullptr, rows));
    if (stay_ != nullptr) COLIBRI_TRY(copy_coming(wave, routed.bundle_bytes));
  }
  if (parts_.place() == PassPlace::kDeviceButExperts) {
    COLIBRI_TRY(copy_rows_there(there, routing_.rows() - there));
  }
  COLIBRI_ASSIGN(const int32_t* row_of_pair,
                 given(routing_.row_of_pair(), work_.row_of_pair, rows * parts_.spec->top_k));
  auto combine = arguments<colibri_combine_args>();
  combine.residual = work_.residual.view(rows);
  combine.row = work_.expert_out.view(rows * parts_.spec->top_k);
  combine.row_index = row_of_pair;
  combine.weight = values(work_.choice.score.view(rows));
  combine.output = work_.residual.view(rows);
  const Product shared(routed.shared_gate, work_.normed.view(rows),
                       work_.normed_prepared.view(rows), work_.shared_weight.view(rows));
  return runner_.run_light(rows,
                           {{routed.combine, &combine}, {routed.shared_gate.op, shared.get()}});
}

Result<std::span<const experts::Visit::Lease>> Batch::next_wave() {
  Recorder* const recorder = runner_.recorder();
  if (recorder != nullptr) recorder->begin_phase(Recorder::Phase::Kind::kExperts);
  auto wave = visit_->next(runner_.pool(), runner_.threads());
  if (recorder != nullptr) recorder->end_phase();
  return wave;
}

Status Batch::run_ffn(const Ffn& ffn, const Groups& groups,
                      std::span<const experts::Visit::Lease> wave, const FfnRows& rows) {
  for (size_t i = 0; i < wave.size(); ++i) {
    weights_[2 * i] = view(*ffn.gate, wave[i].data, rows.bundles);
    weights_[2 * i + 1] = view(*ffn.up, wave[i].data, rows.bundles);
    if (ffn.gate_bias == nullptr) continue;
    biases_[2 * i] = view(*ffn.gate_bias, wave[i].data, rows.bundles);
    biases_[2 * i + 1] = view(*ffn.up_bias, wave[i].data, rows.bundles);
  }
  const Rows inner(prepared(*ffn.down) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32, ffn.gate->rows(),
                   rows.inner, rows.inner_offset);
  auto gate_up = arguments<colibri_grouped_matmul_args>();
  gate_up.weights_per_group = 2;
  gate_up.groups = groups.count;
  gate_up.group_begin = groups.begin;
  gate_up.row_index = groups.row_index;
  gate_up.weight = weights_.data();
  gate_up.input = rows.input;
  gate_up.output = inner.view(rows.output.shape[0]);
  gate_up.bias = ffn.gate_bias == nullptr ? nullptr : biases_.data();
  COLIBRI_TRY(runner_.run({{ffn.gate_up, &gate_up}}));

  for (size_t i = 0; i < wave.size(); ++i) {
    weights_[i] = view(*ffn.down, wave[i].data, rows.bundles);
    if (ffn.down_bias != nullptr) {
      biases_[i] = view(*ffn.down_bias, wave[i].data, rows.bundles);
    }
  }
  auto down = arguments<colibri_grouped_matmul_args>();
  down.weights_per_group = 1;
  down.groups = groups.count;
  down.group_begin = groups.begin;
  down.weight = weights_.data();
  down.input = gate_up.output;
  down.output = rows.output;
  down.bias = ffn.down_bias == nullptr ? nullptr : biases_.data();
  return runner_.run({{ffn.down_op, &down}});
}

Status Batch::add(const Layer& layer, int64_t rows, const float* weight) {
  auto add = arguments<colibri_combine_args>();
  add.residual = work_.residual.view(rows);
  add.row = work_.branch.view(rows);
  add.weight = weight;
  add.output = work_.residual.view(rows);
  return runner_.run_light(rows, {{layer.add, &add}});
}

}  // namespace colibri::engine
