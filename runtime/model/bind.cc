// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/bind.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/base/utf8.h"
#include "runtime/model/binder.h"
#include "runtime/model/codecs.h"
#include "runtime/model/hyperparameters.h"
#include "runtime/model/references.h"
#include "runtime/model/rows.h"

namespace colibri::model {
namespace {

using config::TensorTemplate;
using Scope = TensorTemplate::Scope;

void bind_ffn(Binder& binder, Scope scope, int64_t layer, int64_t expert, FfnSpec* ffn,
              Problems* problems) {
  const auto key = [&](Role role) { return RoleKey{role, scope, layer, expert}; };
  ffn->gate = binder.required(key(Role::kGate));
  ffn->up = binder.required(key(Role::kUp));
  ffn->down = binder.required(key(Role::kDown));
  ffn->gate_bias = binder.optional(key(Role::kGateBias));
  ffn->up_bias = binder.optional(key(Role::kUpBias));
  ffn->down_bias = binder.optional(key(Role::kDownBias));
  if (!ffn->gate_bias == !ffn->up_bias) return;
  problems->add("layer " + std::to_string(layer) +
                ": of the biases of gate and up there is only one, " +
                utf8::printable((ffn->gate_bias ? ffn->gate_bias : ffn->up_bias).tensor->name));
}

// Experts of a layer run through the same operators.
void check_same_biases(int64_t layer, const LayerSpec& spec, Problems* problems) {
  const FfnSpec& first = spec.experts.front();
  for (size_t e = 1; e < spec.experts.size(); ++e) {
    const FfnSpec& expert = spec.experts[e];
    if (!expert.gate_bias == !first.gate_bias && !expert.down_bias == !first.down_bias) continue;
    problems->add("layer " + std::to_string(layer) + ": expert " + std::to_string(e) +
                  " has other biases than expert 0");
    return;
  }
}

void bind_gqa(Binder& binder, int64_t l, QkNorm norm, LayerSpec* layer) {
  const auto key = [&](Role role) { return RoleKey{role, Scope::kLayer, l, 0}; };
  layer->q = binder.required(key(Role::kQ));
  layer->k = binder.required(key(Role::kK));
  layer->v = binder.required(key(Role::kV));
  layer->q_bias = binder.optional(key(Role::kQBias));
  layer->k_bias = binder.optional(key(Role::kKBias));
  layer->v_bias = binder.optional(key(Role::kVBias));
  layer->sinks = binder.optional(key(Role::kSinks));
  if (norm == QkNorm::kNone) return;
  layer->q_norm = binder.required(key(Role::kQNorm));
  layer->k_norm = binder.required(key(Role::kKNorm));
}

void bind_mla(Binder& binder, int64_t l, bool q_latent, LayerSpec* layer) {
  const auto key = [&](Role role) { return RoleKey{role, Scope::kLayer, l, 0}; };
  if (q_latent) {
    layer->q_down = binder.required(key(Role::kQDown));
    layer->q_down_bias = binder.optional(key(Role::kQDownBias));
    layer->q_down_norm = binder.required(key(Role::kQDownNorm));
  }
  layer->q_up = binder.required(key(Role::kQUp));
  layer->kv_down = binder.required(key(Role::kKvDown));
  layer->kv_down_bias = binder.optional(key(Role::kKvDownBias));
  layer->kv_down_norm = binder.required(key(Role::kKvDownNorm));
  layer->k_absorb = binder.required(key(Role::kKAbsorb));
  layer->v_up = binder.required(key(Role::kVUp));
}

void bind_layer(Binder& binder, int64_t l, const ModelSpec& spec, LayerSpec* layer,
                Problems* problems) {
  const auto key = [&](Role role) { return RoleKey{role, Scope::kLayer, l, 0}; };
  layer->attention_norm = binder.required(key(Role::kAttentionNorm));
  if (spec.attention == AttentionKind::kMla) {
    bind_mla(binder, l, spec.q_latent > 0, layer);
  } else {
    bind_gqa(binder, l, spec.qk_norm, layer);
  }
  layer->o = binder.required(key(Role::kO));
  layer->o_bias = binder.optional(key(Role::kOBias));
  layer->ffn_norm = binder.required(key(Role::kFfnNorm));
  if (!layer->routed()) {
    bind_ffn(binder, Scope::kDense, l, 0, &layer->dense, problems);
    return;
  }
  layer->router = binder.required(key(Role::kRouter));
  layer->router_bias = binder.optional(key(Role::kRouterBias));
  layer->select_bias = binder.optional(key(Role::kSelectBias));
  if (layer->shared.inner > 0) {
    bind_ffn(binder, Scope::kShared, l, 0, &layer->shared, problems);
    layer->shared_gate = binder.optional(key(Role::kSharedGate));
  }
  for (size_t e = 0; e < layer->experts.size(); ++e) {
    bind_ffn(binder, Scope::kExpert, l, static_cast<int64_t>(e), &layer->experts[e], problems);
  }
  check_same_biases(l, *layer, problems);
}

// Divides the frequencies by factors that the checkpoint holds as a tensor.
void read_rope_factors(const ModelSource& source, const Weight& weight, ModelSpec* spec,
                       Problems* problems) {
  if (!weight) return;
  const std::string place = source.place_of(*weight.tensor);
  if (weight.codec() != COLIBRI_CODEC_F32) {
    problems->add(place + " is stored as " + codec_name(weight.codec()) + ", not as f32");
    return;
  }
  std::vector<float> factors(spec->rope.frequencies.size());
  std::vector<std::byte> scratch(rows_scratch_bytes(weight, 1));
  const Status status =
      read_rows(source, weight, 0, 1, reinterpret_cast<std::byte*>(factors.data()), scratch.data());
  if (!status.ok()) problems->add(status.text());
  const auto* read = reinterpret_cast<const std::byte*>(factors.data());
  if (status.ok() && weight.tensor->checksum != 0 &&
      checksum(read, factors.size() * sizeof(float)) != weight.tensor->checksum) {
    problems->add(place + ": its checksum differs: the file is damaged");
  }
  for (size_t i = 0; status.ok() && i < factors.size(); ++i) {
    if (!(factors[i] > 0) || !std::isfinite(factors[i])) {
      problems->add(place + ": element " + std::to_string(i) + " is " + number_text(factors[i]) +
                    ", and must be finite and greater than 0");
      return;
    }
    spec->rope.frequencies[i] /= factors[i];
  }
}

void bind_all(const ModelSource& source, Binder& binder, ModelSpec* spec, Problems* problems) {
  spec->embedding = binder.required({Role::kEmbedding});
  spec->final_norm = binder.required({Role::kFinalNorm});
  spec->tied = binder.is_tied();
  spec->head = spec->tied ? spec->embedding : binder.required({Role::kHead});
  spec->head.role = Role::kHead;
  for (size_t l = 0; l < spec->layers.size(); ++l) {
    bind_layer(binder, static_cast<int64_t>(l), *spec, &spec->layers[l], problems);
  }
  if (problems->empty()) {
    spec->rope_factors = binder.optional({Role::kRopeFactors});
    read_rope_factors(source, spec->rope_factors, spec, problems);
  }
  binder.report_unused();
}

// Keys whose other values would change the mathematics.
void check_required(const ModelSource& source, const config::Vocabulary& vocabulary,
                    Problems* problems) {
  for (const config::Condition& condition : vocabulary.require) {
    const Result<colibri_value> value = source.metadata(condition.key);
    const bool given = value.ok() || source.has_members(condition.key);
    if (!given || is_met(source, condition)) continue;
    problems->add(condition.position.text() + ": require." + vocabulary.name + ": " +
                  source.place_of(condition.key) + " is " +
                  (value.ok() ? value_text(*value) : "an object") +
                  ", which this architecture does not cover");
  }
}

}  // namespace

Result<ModelSpec> bind(const ModelSource& source, const config::Architecture& architecture) {
  const std::string& path = source.files().path();
  const config::Vocabulary* vocabulary = architecture.vocabulary(source.vocabulary());
  if (vocabulary == nullptr) {
    return unsupported(path + ": the architecture " + architecture.name +
                       " has no names for checkpoints of the kind '" +
                       std::string(source.vocabulary()) + "'");
  }
  Problems problems;
  check_required(source, *vocabulary, &problems);
  const Dimensions dimensions(*vocabulary, source, &problems);
  ModelSpec spec;
  read_hyperparameters(architecture, dimensions, source.tensors().size(), &spec, &problems);
  read_special_ids(source, &spec, &problems);
  // Shapes follow from the numbers, so tensors are only looked at when those are sound.
  COLIBRI_TRY(problems.status(path));
  Binder binder(source, architecture, *vocabulary, dimensions, spec, &problems);
  COLIBRI_TRY(problems.status(path));
  bind_all(source, binder, &spec, &problems);
  COLIBRI_TRY(problems.status(path));
  return spec;
}

}  // namespace colibri::model
