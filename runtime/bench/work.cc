// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/work.h"

#include <algorithm>

#include "runtime/engine/kv_cache.h"

namespace colibri::bench {
namespace {

using engine::Placed;

void add_product(Work& work, const Placed& weight, double times) {
  const double operations =
      2 * times * static_cast<double>(weight.rows()) * static_cast<double>(weight.tensor.shape[1]);
  (engine::prepared(weight) ? work.int8 : work.f32) += operations;
}

void add_linear(Work& work, const engine::Linear& linear, double times) {
  if (linear.op != nullptr) add_product(work, *linear.weight, times);
}

void add_heads(Work& work, const engine::HeadLinear& heads, double times) {
  for (const Placed* weight : heads.weights) add_product(work, *weight, times);
}

void add_ffn(Work& work, const engine::Ffn& ffn, double times) {
  if (ffn.gate_up == nullptr) return;
  for (const Placed* weight : {ffn.gate, ffn.up, ffn.down}) add_product(work, *weight, times);
}

// A layer's products for `keys` tokens that later ones see, of which `rows` go on to the next
// layer.
void add_layer(Work& work, const engine::Layer& layer, double top_k, double keys, double rows) {
  if (layer.gqa) {
    add_linear(work, layer.gqa->k, keys);
    add_linear(work, layer.gqa->v, keys);
    add_linear(work, layer.gqa->q, rows);
  } else {
    add_linear(work, layer.mla->kv_down, keys);
    add_linear(work, layer.mla->q_down, rows);
    add_linear(work, layer.mla->q_up, rows);
    add_heads(work, layer.mla->k_absorb, rows);
    add_heads(work, layer.mla->v_up, rows);
  }
  add_linear(work, layer.o, rows);
  add_ffn(work, layer.always, rows);
  if (!layer.routed) return;
  add_linear(work, layer.routed->router, rows);
  add_ffn(work, layer.routed->expert, top_k * rows);
  add_linear(work, layer.routed->shared_gate, rows);
}

double attention_operations_per_key(const model::ModelSpec& spec) {
  const int64_t key =
      spec.attention == model::AttentionKind::kMla ? spec.latent + spec.rope.dims : spec.head_dim;
  const int64_t value = spec.attention == model::AttentionKind::kMla ? spec.latent : spec.value_dim;
  return 2 * static_cast<double>(spec.heads * (key + value));
}

// Of one layer.
double bytes_per_key(const engine::Plan& plan) {
  const uint64_t block =
      engine::KvCache::bytes(plan.spec, plan.pipeline.context.kv, COLIBRI_KV_BLOCK);
  return static_cast<double>(block) / double{COLIBRI_KV_BLOCK} /
         static_cast<double>(plan.spec.layers.size());
}

}  // namespace

double visible_keys(int64_t window, int64_t first, int64_t end) {
  const int64_t most = window == 0 ? INT64_MAX : window;
  int64_t pairs = 0;
  for (int64_t i = first; i < end; ++i) pairs += std::min(i + 1, most);
  return static_cast<double>(pairs);
}

Work prefill_work(const engine::Plan& plan, int64_t tokens) {
  Work work;
  const auto top_k = static_cast<double>(plan.spec.top_k);
  const double per_key = attention_operations_per_key(plan.spec);
  for (size_t i = 0; i < plan.layers.layers.size(); ++i) {
    // Nothing follows the last layer but the logits of one token.
    const int64_t rows = i + 1 == plan.layers.layers.size() ? 1 : tokens;
    add_layer(work, plan.layers.layers[i], top_k, static_cast<double>(tokens),
              static_cast<double>(rows));
    work.f32 += visible_keys(plan.spec.layers[i].window, tokens - rows, tokens) * per_key;
  }
  add_linear(work, plan.layers.head, 1);
  return work;
}

Work decode_work(const engine::Plan& plan, int64_t before, int64_t tokens) {
  Work work;
  const auto n = static_cast<double>(tokens);
  const auto top_k = static_cast<double>(plan.spec.top_k);
  double keys = 0;
  for (size_t i = 0; i < plan.layers.layers.size(); ++i) {
    add_layer(work, plan.layers.layers[i], top_k, n, n);
    keys += visible_keys(plan.spec.layers[i].window, before, before + tokens);
  }
  add_linear(work, plan.layers.head, n);
  work.f32 += keys * attention_operations_per_key(plan.spec);
  work.bytes = n * static_cast<double>(plan.bytes_per_token()) + keys * bytes_per_key(plan);
  return work;
}

}  // namespace colibri::bench
