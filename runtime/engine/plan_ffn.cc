// SPDX-License-Identifier: Apache-2.0
// Operators and weights behind a layer's second norm: dense, experts, shared expert.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/engine/layer_planner.h"
#include "runtime/model/codecs.h"

namespace colibri::engine {

Result<Ffn> LayerPlanner::ffn(const std::string& use, const model::FfnSpec& spec, int64_t rows,
                              Part part, uint64_t* bundle) {
  COLIBRI_ASSIGN(const colibri_tensor gate, asked(spec.gate));
  COLIBRI_ASSIGN(const colibri_tensor up, asked(spec.up));
  COLIBRI_ASSIGN(const colibri_tensor down, asked(spec.down));
  auto gated = attributes<colibri_grouped_matmul_attributes>();
  gated.epilogue = COLIBRI_EPILOGUE_GATED;
  gated.activation = spec_.activation;
  gated.input_dtype = has_integer_product(gate.dtype) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  gated.output_dtype = has_integer_product(down.dtype) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  gated.bias = spec.gate_bias ? 1 : 0;
  gated.clamp = spec_.ffn_clamp;
  gated.alpha = spec_.ffn_alpha;
  gated.up_offset = spec_.ffn_up_offset;
  std::vector<Packing> packing;
  Ffn made;
  COLIBRI_ASSIGN(made.gate_up, operators_.add(use + ".gate_up",
                                              {COLIBRI_OP_GROUPED_MATMUL, gated, {gate, up}, rows},
                                              &packing, part));
  made.gate = place(spec.gate, packing[0], gate, bundle);
  made.up = place(spec.up, packing[1], up, bundle);

  auto plain = attributes<colibri_grouped_matmul_attributes>();
  plain.input_dtype = gated.output_dtype;
  plain.output_dtype = COLIBRI_CODEC_F32;
  plain.bias = spec.down_bias ? 1 : 0;
  COLIBRI_ASSIGN(made.down_op,
                 operators_.add(use + ".down", {COLIBRI_OP_GROUPED_MATMUL, plain, {down}, rows},
                                &packing, part));
  made.down = place(spec.down, packing[0], down, bundle);
  made.gate_bias = place_vector(spec.gate_bias, bundle);
  made.up_bias = place_vector(spec.up_bias, bundle);
  made.down_bias = place_vector(spec.down_bias, bundle);
  return made;
}

Status LayerPlanner::check_same_codecs(const std::vector<model::FfnSpec>& experts) const {
  const model::FfnSpec& first = experts[0];
  for (const auto part : {&model::FfnSpec::gate, &model::FfnSpec::up, &model::FfnSpec::down}) {
    COLIBRI_ASSIGN(const uint32_t wanted, model::codec_of(first.*part, quantize_));
    for (const model::FfnSpec& expert : experts) {
      COLIBRI_ASSIGN(const uint32_t codec, model::codec_of(expert.*part, quantize_));
      if (codec == wanted) continue;
      return unsupported((expert.*part).name() + " would be held in " + model::codec_name(codec) +
                         ", but " + (first.*part).name() + " in " + model::codec_name(wanted) +
                         "; set model.quantize.experts so that all experts have one codec");
    }
  }
  return {};
}

Status LayerPlanner::plan_tier(const model::FfnSpec& spec, RoutedFfn& routed) {
  uint64_t bytes = 0;
  COLIBRI_ASSIGN(routed.tier_expert,
                 ffn("experts.on_device", spec, max_rows_ * spec_.top_k, Part::kDense, &bytes));
  for (const auto part :
       {&Ffn::gate, &Ffn::up, &Ffn::down, &Ffn::gate_bias, &Ffn::up_bias, &Ffn::down_bias}) {
    const Placed* const here = routed.expert.*part;
    const Placed* const there = routed.tier_expert.*part;
    if (here == nullptr ||
        (here->tensor.layout == there->tensor.layout &&
         here->packing.bytes == there->packing.bytes && here->offset == there->offset)) {
      continue;
    }
    return unsupported("experts.on_device: plugin " +
                       routed.tier_expert.gate_up->choice().plugin->id() + " lays out " +
                       here->weight->name() + " otherwise than plugin " +
                       routed.expert.gate_up->choice().plugin->id() +
                       " of the CPU, so that their experts cannot be copied");
  }
  return {};
}

Status LayerPlanner::plan_routed(const model::LayerSpec& spec, RoutedFfn& routed) {
  const model::RouterSpec& router = spec_.router;
  using experts::ExpertPlace;
  routed.index = made_.routed_layers++;
  routed.place = places_[routed.index];
  if (routed.place != ExpertPlace::kDevice) routed.store_layer = made_.store_layers++;
  // The logits are a product like others, whose rows all threads share.
  COLIBRI_ASSIGN(routed.router, linear("router", spec.router, spec.router_bias));
  auto a = attributes<colibri_router_attributes>();
  a.score = router.score;
  a.top_k = static_cast<uint32_t>(spec_.top_k);
  a.renormalize = router.renormalize ? 1 : 0;
  a.select_bias = spec.select_bias ? 1 : 0;
  a.groups = static_cast<uint32_t>(router.groups);
  a.keep_groups = static_cast<uint32_t>(router.keep_groups);
  a.group_rule = router.group_rule;
  a.group_mask = router.group_mask;
  a.scale = router.scale == 1 ? 0 : router.scale;
  a.experts = static_cast<uint32_t>(spec_.experts);
  COLIBRI_ASSIGN(routed.choose,
                 operators_.add("router.choice", {COLIBRI_OP_ROUTER, a, {}, max_rows_}));
  routed.select_bias = place_vector(spec.select_bias);

  COLIBRI_TRY(check_same_codecs(spec.experts));
  const bool on_device = routed.place == ExpertPlace::kDevice;
  COLIBRI_ASSIGN(
      routed.expert,
      ffn(on_device ? "experts.on_device" : "experts", spec.experts[0], max_rows_ * spec_.top_k,
          on_device ? Part::kDense : Part::kExperts, &routed.bundle_bytes));
  if (routed.place == ExpertPlace::kBoth) COLIBRI_TRY(plan_tier(spec.experts[0], routed));
  made_.bundle_bytes = std::max(made_.bundle_bytes, routed.bundle_bytes);
  COLIBRI_ASSIGN(routed.combine, combine("experts.combine", spec_.top_k));
  if (spec.shared_gate) {
    COLIBRI_ASSIGN(routed.shared_gate,
                   linear("shared.weight", spec.shared_gate, {}, COLIBRI_ACTIVATION_SIGMOID));
  }
  return {};
}

Status LayerPlanner::plan_ffn(const model::LayerSpec& spec, Layer& layer) {
  COLIBRI_ASSIGN(layer.ffn_norm, norm("ffn.norm", spec.ffn_norm, max_rows_));
  bool prepared_input = false;
  if (spec.routed()) {
    COLIBRI_TRY(plan_routed(spec, layer.routed.emplace()));
    prepared_input = prepared(*layer.routed->router.weight) ||
                     prepared(*layer.routed->expert.gate) ||
                     (spec.shared_gate && prepared(*layer.routed->shared_gate.weight));
  }
  const model::FfnSpec& always = spec.routed() ? spec.shared : spec.dense;
  if (always.gate) {
    COLIBRI_ASSIGN(layer.always,
                   ffn(spec.routed() ? "shared" : "ffn", always, max_rows_, Part::kDense, nullptr));
    prepared_input = prepared_input || prepared(*layer.always.gate);
  }
  if (prepared_input) {
    COLIBRI_ASSIGN(layer.quantize_ffn_input, quantize("ffn.input", max_rows_));
  }
  return {};
}

}  // namespace colibri::engine
