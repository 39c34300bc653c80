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

// Products with weights, of `tokens` tokens of which `logit_rows` get logits.
Work product_work(const engine::Plan& plan, int64_t tokens, int64_t logit_rows) {
  Work work;
  const auto n = static_cast<double>(tokens);
  for (const Placed& weight : plan.layers.dense) {
    const bool table = &weight == plan.layers.embedding || &weight == plan.layers.head.weight;
    if (weight.tensor.rank == 2 && !table) add_product(work, weight, n);
  }
  add_product(work, *plan.layers.head.weight, static_cast<double>(logit_rows));
  for (const engine::Layer& layer : plan.layers.layers) {
    if (!layer.routed) continue;
    const engine::Ffn& expert = layer.routed->expert;
    for (const Placed* weight : {expert.gate, expert.up, expert.down}) {
      add_product(work, *weight, n * static_cast<double>(plan.spec.top_k));
    }
  }
  return work;
}

// Pairs of a query and a key it sees, over all layers, for queries at [before, before + tokens).
double visible_keys(const model::ModelSpec& spec, int64_t before, int64_t tokens) {
  int64_t pairs = 0;
  for (const model::LayerSpec& layer : spec.layers) {
    const int64_t most = layer.window == 0 ? INT64_MAX : layer.window;
    for (int64_t i = before; i < before + tokens; ++i) pairs += std::min(i + 1, most);
  }
  return static_cast<double>(pairs);
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
  return static_cast<double>(block / COLIBRI_KV_BLOCK) /
         static_cast<double>(plan.spec.layers.size());
}

}  // namespace

Work prefill_work(const engine::Plan& plan, int64_t tokens) {
  Work work = product_work(plan, tokens, 1);
  work.f32 += visible_keys(plan.spec, 0, tokens) * attention_operations_per_key(plan.spec);
  return work;
}

Work decode_work(const engine::Plan& plan, int64_t before, int64_t tokens) {
  Work work = product_work(plan, tokens, tokens);
  const double keys = visible_keys(plan.spec, before, tokens);
  work.f32 += keys * attention_operations_per_key(plan.spec);
  work.bytes = static_cast<double>(tokens) * static_cast<double>(plan.bytes_per_token()) +
               keys * bytes_per_key(plan);
  return work;
}

}  // namespace colibri::bench
