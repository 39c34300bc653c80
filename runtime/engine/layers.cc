// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/layers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/engine/rows.h"

namespace colibri::engine {
namespace {

// Attribute structs begin with their size; the bytes between fields are zero so that descriptions
// can be compared.
template <typename Attributes>
Attributes attributes() {
  Attributes made;
  std::memset(&made, 0, sizeof(made));
  made.struct_size = sizeof(made);
  return made;
}

bool prepared(const Placed& placed) {
  return wants_prepared_rows(placed.tensor.dtype);
}

Placed placed_at(uint64_t offset, const model::Weight& weight, const Packing& packing,
                 const colibri_tensor& tensor) {
  Placed placed;
  placed.weight = &weight;
  placed.packing = packing;
  placed.offset = offset;
  placed.tensor = tensor;
  placed.tensor.layout = packing.layout.id;
  return placed;
}

class LayerPlanner {
 public:
  LayerPlanner(const model::ModelSpec& spec, const config::Quantize& quantize, uint32_t kv,
               int64_t max_rows, OperatorSet& operators)
      : spec_(spec), quantize_(quantize), kv_(kv), max_rows_(max_rows), operators_(operators) {}

  Result<Layers> plan();

 private:
  Status plan_ends();
  Status plan_attention(const model::LayerSpec& spec, Layer& layer);
  Status plan_ffn(const model::LayerSpec& spec, Layer& layer);
  Status plan_experts(const model::LayerSpec& spec, Layer& layer);

  using Made = Result<const Operator*>;
  Made norm(const char* use, const model::Weight& weight, Placed& placed);
  Made matmul(const char* use, const model::Weight& weight, Placed& placed);
  Made rope(const char* use, int64_t heads);
  Made combine(const char* use, int64_t slots);
  // Null if no product wants prepared rows.
  Made quantize(const char* use, bool wanted, int64_t rows);
  Result<colibri_tensor> asked(const model::Weight& weight) const;
  uint64_t reserve(const Packing& packing);

  const model::ModelSpec& spec_;
  const config::Quantize& quantize_;
  const uint32_t kv_;
  const int64_t max_rows_;
  OperatorSet& operators_;
  Layers made_;
};

Result<colibri_tensor> LayerPlanner::asked(const model::Weight& weight) const {
  COLIBRI_ASSIGN(const uint32_t codec, model::codec_of(weight, quantize_));
  return matrix(codec, COLIBRI_LAYOUT_ROWS, weight.rows, weight.cols);
}

uint64_t LayerPlanner::reserve(const Packing& packing) {
  return std::exchange(made_.dense_bytes, made_.dense_bytes + align_up(packing.bytes));
}

LayerPlanner::Made LayerPlanner::norm(const char* use, const model::Weight& weight,
                                      Placed& placed) {
  auto a = attributes<colibri_norm_attributes>();
  a.kind = COLIBRI_NORM_RMS;
  a.eps = spec_.eps;
  a.output_dtype = COLIBRI_CODEC_F32;
  const colibri_tensor tensor = vector(weight.elements());
  std::vector<Packing> packing;
  COLIBRI_ASSIGN(const Operator* made,
                 operators_.add(use, {COLIBRI_OP_NORM, a, {tensor}, max_rows_}, &packing));
  placed = placed_at(reserve(packing[0]), weight, packing[0], tensor);
  return made;
}

LayerPlanner::Made LayerPlanner::matmul(const char* use, const model::Weight& weight,
                                        Placed& placed) {
  COLIBRI_ASSIGN(const colibri_tensor tensor, asked(weight));
  auto a = attributes<colibri_grouped_matmul_attributes>();
  a.input_dtype = wants_prepared_rows(tensor.dtype) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  a.output_dtype = COLIBRI_CODEC_F32;
  std::vector<Packing> packing;
  COLIBRI_ASSIGN(
      const Operator* made,
      operators_.add(use, {COLIBRI_OP_GROUPED_MATMUL, a, {tensor}, max_rows_}, &packing));
  placed = placed_at(reserve(packing[0]), weight, packing[0], tensor);
  return made;
}

LayerPlanner::Made LayerPlanner::quantize(const char* use, bool wanted, int64_t rows) {
  if (!wanted) return static_cast<const Operator*>(nullptr);
  auto a = attributes<colibri_quantize_rows_attributes>();
  a.output_dtype = COLIBRI_CODEC_Q8_32;
  return operators_.add(use, {COLIBRI_OP_QUANTIZE_ROWS, a, {}, rows});
}

LayerPlanner::Made LayerPlanner::rope(const char* use, int64_t heads) {
  auto a = attributes<colibri_rope_attributes>();
  a.style = spec_.rope.style;
  a.heads = heads;
  a.head_dim = spec_.head_dim;
  a.dims = spec_.rope.dims;
  return operators_.add(use, {COLIBRI_OP_ROPE, a, {}, max_rows_});
}

LayerPlanner::Made LayerPlanner::combine(const char* use, int64_t slots) {
  auto a = attributes<colibri_combine_attributes>();
  a.slots = static_cast<uint32_t>(slots);
  a.scale = 1;
  return operators_.add(use, {COLIBRI_OP_COMBINE, a, {}, max_rows_});
}

Status LayerPlanner::plan_attention(const model::LayerSpec& spec, Layer& layer) {
  COLIBRI_ASSIGN(layer.attention_norm,
                 norm("attention.norm", spec.attention_norm, layer.attention_norm_weight));
  COLIBRI_ASSIGN(layer.q, matmul("attention.q", spec.q, layer.q_weight));
  COLIBRI_ASSIGN(layer.k, matmul("attention.k", spec.k, layer.k_weight));
  COLIBRI_ASSIGN(layer.v, matmul("attention.v", spec.v, layer.v_weight));
  const bool wanted =
      prepared(layer.q_weight) || prepared(layer.k_weight) || prepared(layer.v_weight);
  COLIBRI_ASSIGN(layer.quantize_attention_input, quantize("attention.input", wanted, max_rows_));
  COLIBRI_ASSIGN(layer.rope_q, rope("attention.rope_q", spec_.heads));
  COLIBRI_ASSIGN(layer.rope_k, rope("attention.rope_k", spec_.kv_heads));

  auto write = attributes<colibri_kv_write_attributes>();
  write.cache_dtype = kv_;
  write.kv_heads = spec_.kv_heads;
  write.head_dim = spec_.head_dim;
  COLIBRI_ASSIGN(layer.kv_write,
                 operators_.add("attention.kv_write", {COLIBRI_OP_KV_WRITE, write, {}, max_rows_}));
  auto attention = attributes<colibri_attention_attributes>();
  attention.cache_dtype = kv_;
  attention.heads = spec_.heads;
  attention.kv_heads = spec_.kv_heads;
  attention.head_dim = spec_.head_dim;
  attention.window = spec.window;
  attention.scale = spec_.attention_scale;
  COLIBRI_ASSIGN(layer.attention,
                 operators_.add("attention", {COLIBRI_OP_ATTENTION, attention, {}, max_rows_}));
  COLIBRI_ASSIGN(layer.o, matmul("attention.o", spec.o, layer.o_weight));
  COLIBRI_ASSIGN(layer.quantize_attention_output,
                 quantize("attention.output", prepared(layer.o_weight), max_rows_));
  COLIBRI_ASSIGN(layer.add, combine("attention.add", 1));
  return {};
}

Status LayerPlanner::plan_ffn(const model::LayerSpec& spec, Layer& layer) {
  COLIBRI_ASSIGN(layer.ffn_norm, norm("ffn.norm", spec.ffn_norm, layer.ffn_norm_weight));
  COLIBRI_ASSIGN(const colibri_tensor tensor, asked(spec.router));
  auto a = attributes<colibri_router_attributes>();
  a.score = spec_.router.score;
  a.top_k = static_cast<uint32_t>(spec_.top_k);
  a.renormalize = spec_.router.renormalize ? 1 : 0;
  std::vector<Packing> packing;
  COLIBRI_ASSIGN(layer.router,
                 operators_.add("router", {COLIBRI_OP_ROUTER, a, {tensor}, max_rows_}, &packing));
  layer.router_weight = placed_at(reserve(packing[0]), spec.router, packing[0], tensor);
  COLIBRI_TRY(plan_experts(spec, layer));
  COLIBRI_ASSIGN(layer.combine, combine("experts.combine", spec_.top_k));
  return {};
}

Status LayerPlanner::plan_experts(const model::LayerSpec& spec, Layer& layer) {
  const model::FfnSpec& first = spec.experts[0];
  COLIBRI_ASSIGN(const colibri_tensor gate, asked(first.gate));
  COLIBRI_ASSIGN(const colibri_tensor up, asked(first.up));
  COLIBRI_ASSIGN(const colibri_tensor down, asked(first.down));
  // One operator serves all experts of a layer, so they share their codecs.
  for (const model::FfnSpec& expert : spec.experts) {
    for (const auto& [weight, tensor] :
         {std::pair(&expert.gate, &gate), {&expert.up, &up}, {&expert.down, &down}}) {
      COLIBRI_ASSIGN(const colibri_tensor other, asked(*weight));
      if (other.dtype == tensor->dtype) continue;
      return unsupported(weight->name() + " would be held in " + model::codec_name(other.dtype) +
                         ", but " + first.gate.name() + " in " + model::codec_name(tensor->dtype) +
                         "; set model.quantize.experts so that all experts have one codec");
    }
  }
  const int64_t product_rows = max_rows_ * spec_.top_k;
  auto gated = attributes<colibri_grouped_matmul_attributes>();
  gated.epilogue = COLIBRI_EPILOGUE_GATED;
  gated.activation = spec_.activation;
  gated.input_dtype = wants_prepared_rows(gate.dtype) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  gated.output_dtype = wants_prepared_rows(down.dtype) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  std::vector<Packing> packing;
  COLIBRI_ASSIGN(
      layer.gate_up,
      operators_.add("experts.gate_up",
                     {COLIBRI_OP_GROUPED_MATMUL, gated, {gate, up}, product_rows}, &packing));
  layer.gate_weight = placed_at(0, first.gate, packing[0], gate);
  layer.up_weight = placed_at(align_up(packing[0].bytes), first.up, packing[1], up);
  layer.bundle_bytes = layer.up_weight.offset + align_up(packing[1].bytes);

  auto plain = attributes<colibri_grouped_matmul_attributes>();
  plain.input_dtype = gated.output_dtype;
  plain.output_dtype = COLIBRI_CODEC_F32;
  COLIBRI_ASSIGN(
      layer.down,
      operators_.add("experts.down", {COLIBRI_OP_GROUPED_MATMUL, plain, {down}, product_rows},
                     &packing));
  layer.down_weight = placed_at(layer.bundle_bytes, first.down, packing[0], down);
  layer.bundle_bytes += align_up(packing[0].bytes);
  made_.bundle_bytes = std::max(made_.bundle_bytes, layer.bundle_bytes);
  COLIBRI_ASSIGN(layer.quantize_ffn_input,
                 quantize("experts.input", wants_prepared_rows(gate.dtype), max_rows_));
  return {};
}

Status LayerPlanner::plan_ends() {
  COLIBRI_ASSIGN(made_.final_norm, norm("head.norm", spec_.final_norm, made_.final_norm_weight));
  COLIBRI_ASSIGN(made_.head, matmul("head", spec_.head, made_.head_weight));
  COLIBRI_ASSIGN(made_.quantize_head_input,
                 quantize("head.input", prepared(made_.head_weight), max_rows_));
  auto a = attributes<colibri_embed_attributes>();
  a.scale = spec_.embedding_scale;
  colibri_tensor table = made_.head_weight.tensor;
  if (!spec_.tied) {
    COLIBRI_ASSIGN(table, asked(spec_.embedding));
  }
  std::vector<Packing> packing;
  COLIBRI_ASSIGN(made_.embed,
                 operators_.add("embedding", {COLIBRI_OP_EMBED, a, {table}, max_rows_}, &packing));
  // A tied table lies once, as the head wants it; the embedding reads it from there.
  made_.embedding_weight = spec_.tied
                               ? made_.head_weight
                               : placed_at(reserve(packing[0]), spec_.embedding, packing[0], table);
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

}  // namespace

std::vector<Placed*> Layers::dense() {
  std::vector<Placed*> all;
  for (Layer& layer : layers) {
    for (Placed* placed :
         {&layer.attention_norm_weight, &layer.q_weight, &layer.k_weight, &layer.v_weight,
          &layer.o_weight, &layer.ffn_norm_weight, &layer.router_weight}) {
      all.push_back(placed);
    }
  }
  all.push_back(&final_norm_weight);
  all.push_back(&head_weight);
  if (embedding_weight.offset != head_weight.offset) all.push_back(&embedding_weight);
  return all;
}

Result<Layers> plan_layers(const model::ModelSpec& spec, const config::Quantize& quantize,
                           uint32_t kv, int64_t max_rows, OperatorSet& operators) {
  return LayerPlanner(spec, quantize, kv, max_rows, operators).plan();
}

}  // namespace colibri::engine
