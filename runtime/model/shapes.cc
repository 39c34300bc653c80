// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/shapes.h"

#include <utility>

namespace colibri::model {
namespace {

using Scope = config::TensorTemplate::Scope;

Extent named(int64_t value, std::string_view name) {
  return {value, std::string(name), {name}};
}

Extent times(const Extent& a, const Extent& b) {
  return {a.value * b.value, a.words + " * " + b.words, {a.dims[0], b.dims[0]}};
}

Shape vector(Extent extent) {
  return {true, {1, "1", {}}, std::move(extent)};
}

Shape matrix(Extent rows, Extent cols) {
  return {false, std::move(rows), std::move(cols)};
}

Extent inner_of(Scope scope, const ModelSpec& spec) {
  if (scope == Scope::kDense) return named(spec.dense_inner, "dense_inner");
  if (scope == Scope::kShared) return named(spec.shared_inner, "shared_inner");
  return named(spec.expert_inner, "expert_inner");
}

}  // namespace

std::string Shape::words() const {
  return "[" + (vector ? "" : rows.words + ", ") + cols.words + "]";
}

std::string Shape::numbers() const {
  return "[" + (vector ? "" : std::to_string(rows.value) + ", ") + std::to_string(cols.value) + "]";
}

Shape shape_of(Role role, Scope scope, const ModelSpec& spec) {
  const Extent hidden = named(spec.hidden, "hidden");
  const Extent vocabulary = named(spec.vocabulary, "vocabulary");
  const Extent heads = named(spec.heads, "heads");
  const Extent head_dim = named(spec.head_dim, "head_dim");
  const Extent queries = times(heads, head_dim);
  const Extent keys = times(named(spec.kv_heads, "kv_heads"), head_dim);
  const bool mla = spec.attention == AttentionKind::kMla;
  const Extent values = mla ? times(heads, named(spec.value_dim, "value_dim")) : queries;
  const Extent latent = named(spec.latent, "latent");
  const Extent q_latent = named(spec.q_latent, "q_latent");
  const Extent key = {spec.latent + spec.rope.dims, "latent + rope.dims", {"latent"}};
  const Extent experts = named(spec.experts, "experts");
  const Extent inner = inner_of(scope, spec);
  const bool full = spec.qk_norm == QkNorm::kFull;
  switch (role) {
    case Role::kEmbedding:
    case Role::kHead:
      return matrix(vocabulary, hidden);
    case Role::kFinalNorm:
    case Role::kAttentionNorm:
    case Role::kFfnNorm:
    case Role::kOBias:
    case Role::kDownBias:
      return vector(hidden);
    case Role::kRopeFactors:
      return vector({spec.rope.dims / 2, "rope.dims / 2", {}});
    case Role::kQ:
      return matrix(queries, hidden);
    case Role::kK:
    case Role::kV:
      return matrix(keys, hidden);
    case Role::kQBias:
      return vector(queries);
    case Role::kKBias:
    case Role::kVBias:
      return vector(keys);
    case Role::kQNorm:
      return vector(full ? queries : head_dim);
    case Role::kKNorm:
      return vector(full ? keys : head_dim);
    case Role::kSinks:
      return vector(heads);
    case Role::kQDown:
      return matrix(q_latent, hidden);
    case Role::kQDownBias:
    case Role::kQDownNorm:
      return vector(q_latent);
    case Role::kQUp:
      return matrix(queries, spec.q_latent > 0 ? q_latent : hidden);
    case Role::kKvDown:
      return matrix(key, hidden);
    case Role::kKvDownBias:
      return vector(key);
    case Role::kKvDownNorm:
      return vector(latent);
    case Role::kKAbsorb:
      return matrix(times(heads, latent),
                    {spec.head_dim - spec.rope.dims, "head_dim - rope.dims", {"head_dim"}});
    case Role::kVUp:
      return matrix(values, latent);
    case Role::kO:
      return matrix(hidden, values);
    case Role::kRouter:
      return matrix(experts, hidden);
    case Role::kRouterBias:
    case Role::kSelectBias:
      return vector(experts);
    case Role::kSharedGate:
      return matrix({1, "1", {}}, hidden);
    case Role::kGate:
    case Role::kUp:
      return matrix(inner, hidden);
    case Role::kDown:
      return matrix(hidden, inner);
    case Role::kGateBias:
    case Role::kUpBias:
      return vector(inner);
  }
  return {};
}

}  // namespace colibri::model
