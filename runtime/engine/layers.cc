// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/layers.h"

#include <string>
#include <utility>

#include "runtime/engine/layer_planner.h"
#include "runtime/model/codecs.h"

namespace colibri::engine {

Result<colibri_tensor> LayerPlanner::asked(const model::Weight& weight, int64_t rows) const {
  COLIBRI_ASSIGN(const uint32_t codec, model::codec_of(weight, quantize_));
  return matrix(codec, COLIBRI_LAYOUT_ROWS, rows, weight.cols);
}

const Placed* LayerPlanner::place(const model::Weight& weight, const Packing& packing,
                                  const colibri_tensor& tensor, uint64_t* bundle,
                                  int64_t first_row) {
  uint64_t& used = bundle == nullptr ? made_.dense_bytes : *bundle;
  Placed& placed = (bundle == nullptr ? made_.dense : made_.bundled).emplace_back();
  placed.weight = &weight;
  placed.first_row = first_row;
  placed.packing = packing;
  placed.offset = std::exchange(used, used + align_up(packing.bytes));
  placed.tensor = tensor;
  placed.tensor.layout = packing.layout.id;
  return &placed;
}

const Placed* LayerPlanner::place_vector(const model::Weight& weight, uint64_t* bundle) {
  if (!weight) return nullptr;
  Packing packing = vector_packing_;
  packing.bytes = static_cast<uint64_t>(weight.elements()) * sizeof(float);
  return place(weight, packing, vector(weight.elements()), bundle);
}

Result<Norm> LayerPlanner::norm(const char* use, const model::Weight& weight, int64_t rows,
                                float clamp) {
  auto a = attributes<colibri_norm_attributes>();
  a.kind = COLIBRI_NORM_RMS;
  const bool latent =
      weight.role == model::Role::kQDownNorm || weight.role == model::Role::kKvDownNorm;
  a.eps = latent ? spec_.latent_eps : spec_.eps;
  a.output_dtype = COLIBRI_CODEC_F32;
  a.clamp = clamp;
  const colibri_tensor tensor = vector(weight.elements());
  std::vector<Packing> packing;
  Norm made;
  COLIBRI_ASSIGN(made.op, operators_.add(use, {COLIBRI_OP_NORM, a, {tensor}, rows}, &packing));
  vector_packing_ = packing[0];
  made.weight = place(weight, packing[0], tensor);
  return made;
}

Result<Linear> LayerPlanner::linear(const char* use, const model::Weight& weight,
                                    const model::Weight& bias, uint32_t activation, float clamp) {
  COLIBRI_ASSIGN(const colibri_tensor tensor, asked(weight));
  auto a = attributes<colibri_grouped_matmul_attributes>();
  a.activation = activation;
  a.input_dtype = has_integer_product(tensor.dtype) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  a.output_dtype = COLIBRI_CODEC_F32;
  a.bias = bias ? 1 : 0;
  a.clamp = clamp;
  std::vector<Packing> packing;
  Linear made;
  COLIBRI_ASSIGN(
      made.op, operators_.add(use, {COLIBRI_OP_GROUPED_MATMUL, a, {tensor}, max_rows_}, &packing));
  made.weight = place(weight, packing[0], tensor);
  made.bias = place_vector(bias);
  return made;
}

Result<HeadLinear> LayerPlanner::head_linear(const char* use, const model::Weight& weight) {
  const int64_t rows = weight.rows / spec_.heads;
  COLIBRI_ASSIGN(const colibri_tensor tensor, asked(weight, rows));
  auto a = attributes<colibri_grouped_matmul_attributes>();
  a.input_dtype = has_integer_product(tensor.dtype) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  a.output_dtype = COLIBRI_CODEC_F32;
  const int64_t product_rows = max_rows_ * spec_.heads;
  std::vector<Packing> packing;
  HeadLinear made;
  COLIBRI_ASSIGN(
      made.op,
      operators_.add(use, {COLIBRI_OP_GROUPED_MATMUL, a, {tensor}, product_rows}, &packing));
  for (int64_t head = 0; head < spec_.heads; ++head) {
    made.weights.push_back(place(weight, packing[0], tensor, nullptr, head * rows));
  }
  if (has_integer_product(tensor.dtype)) {
    COLIBRI_ASSIGN(made.quantize_input, quantize(std::string(use) + ".input", product_rows));
  }
  return made;
}

LayerPlanner::Made LayerPlanner::quantize(const std::string& use, int64_t rows) {
  auto a = attributes<colibri_quantize_rows_attributes>();
  a.output_dtype = COLIBRI_CODEC_Q8_32;
  return operators_.add(use, {COLIBRI_OP_QUANTIZE_ROWS, a, {}, rows});
}

LayerPlanner::Made LayerPlanner::combine(const char* use, int64_t slots) {
  auto a = attributes<colibri_combine_attributes>();
  a.slots = static_cast<uint32_t>(slots);
  a.scale = spec_.residual_scale;
  return operators_.add(use, {COLIBRI_OP_COMBINE, a, {}, max_rows_});
}

Status LayerPlanner::plan_ends() {
  COLIBRI_ASSIGN(made_.final_norm, norm("head.norm", spec_.final_norm, max_rows_));
  COLIBRI_ASSIGN(made_.head, linear("head", spec_.head, {}));
  if (prepared(*made_.head.weight)) {
    COLIBRI_ASSIGN(made_.quantize_head_input, quantize("head.input", max_rows_));
  }
  auto a = attributes<colibri_embed_attributes>();
  a.scale = spec_.embedding_scale;
  colibri_tensor table = made_.head.weight->tensor;
  if (!spec_.tied) {
    COLIBRI_ASSIGN(table, asked(spec_.embedding));
  }
  std::vector<Packing> packing;
  COLIBRI_ASSIGN(made_.embed,
                 operators_.add("embedding", {COLIBRI_OP_EMBED, a, {table}, max_rows_}, &packing));
  // A tied table lies once, as the head wants it; the embedding reads it from there.
  made_.embedding = spec_.tied ? made_.head.weight : place(spec_.embedding, packing[0], table);
  return {};
}

Result<Layers> LayerPlanner::plan() {
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    Layer& layer = made_.layers.emplace_back();
    const std::string place = "layer " + std::to_string(i);
    if (Status status = plan_attention(spec_.layers[i], layer); !status.ok()) {
      return status.at(place);
    }
    if (Status status = plan_ffn(spec_.layers[i], layer); !status.ok()) return status.at(place);
  }
  COLIBRI_TRY(plan_ends());
  return std::move(made_);
}

Result<Layers> plan_layers(const model::ModelSpec& spec, const config::Quantize& quantize,
                           uint32_t kv, int64_t max_rows,
                           std::span<const experts::ExpertPlace> places, OperatorSet& operators) {
  return LayerPlanner(spec, quantize, kv, max_rows, places, operators).plan();
}

}  // namespace colibri::engine
