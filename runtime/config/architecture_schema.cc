// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/architecture_schema.h"

#include "runtime/config/architecture_choices.h"
#include "runtime/config/architecture_page.h"
#include "runtime/config/architecture_types.h"

namespace colibri::config {
namespace {

constexpr Choice kApiVersions[] = {{"colibri/v1"}};
constexpr Choice kKinds[] = {{"Architecture"}};

constexpr Field kMetadata[] = {
    field<&Architecture::name>({
        .name = "name",
        .doc = "What `model.architecture` of a pipeline calls it.",
        .min = 1,
    }),
};
constexpr Table kMetadataTable = {"metadata", kMetadata};

constexpr Field kEmbedding[] = {
    field<&Architecture::Embedding::scale, &kNumberExprType>({
        .name = "scale",
        .fallback = "1.0",
        .doc = "Factor on the rows of the embedding.",
    }),
};
constexpr Table kEmbeddingTable = {"embedding", kEmbedding};

constexpr Choice kNormKinds[] = {{"rms", static_cast<int64_t>(NormKind::kRms)}};

constexpr Field kNorm[] = {
    field<&Architecture::Norm::kind>({
        .name = "kind",
        .doc = "`rms`: x / sqrt(mean(x^2) + eps) * weight.",
        .choices = kNormKinds,
    }),
    field<&Architecture::Norm::eps, &kNumberExprType>({
        .name = "eps",
        .doc = "Added to the mean square.",
    }),
    field<&Architecture::Norm::latent_eps, &kNumberOrNullExprType>({
        .name = "latent_eps",
        .fallback = "null",
        .doc = "The same for the norms of `mla`'s latents; null: as `eps`.",
    }),
};
constexpr Table kNormTable = {"norm", kNorm};

constexpr Choice kTopologies[] = {{"pre", static_cast<int64_t>(Topology::kPre)}};

constexpr Field kLogits[] = {
    field<&Architecture::Logits::scale, &kNumberExprType>({
        .name = "scale",
        .fallback = "1.0",
        .doc = "Factor on the logits.",
    }),
};
constexpr Table kLogitsTable = {"logits", kLogits};

constexpr Field kLayers[] = {
    field<&Architecture::Layers::first_dense, &kIntegerExprType>({
        .name = "first_dense",
        .fallback = "0",
        .doc = "So many layers, from the first, are dense: they have no experts.",
    }),
    field<&Architecture::Layers::moe_every, &kIntegerExprType>({
        .name = "moe_every",
        .fallback = "1",
        .doc = "Layer l is dense too if l + 1 is no multiple of this.",
    }),
    field<&Architecture::Layers::dense, &kIntegersExprType>({
        .name = "dense",
        .fallback = "[]",
        .doc = "Layers that are dense in any case, counted from 0.",
    }),
};
constexpr Table kLayersTable = {"layers", kLayers};

constexpr Choice kAttentionKinds[] = {
    {"gqa", static_cast<int64_t>(AttentionKind::kGqa)},
    {"mla", static_cast<int64_t>(AttentionKind::kMla)},
};

constexpr Field kAttention[] = {
    field<&Architecture::Attention::kind>({
        .name = "kind",
        .doc = "`gqa`: query heads share key and value heads in groups of heads / kv_heads. `mla`: "
               "keys and values of all heads are projections of one latent of each token, and the "
               "last `rope.dims` elements of the heads share one rotated key.",
        .choices = kAttentionKinds,
    }),
    field<&Architecture::Attention::qk_norm, &kWordType>({
        .name = "qk_norm",
        .fallback = "none",
        .doc = "Norm of queries and keys before their rotation: of each head by itself (`head`), "
               "or over all heads together (`full`).",
        .choices = kQkNorms,
    }),
    field<&Architecture::Attention::scale, &kAttentionScaleType>({
        .name = "scale",
        .fallback = "inverse_sqrt_head_dim",
        .doc = "Factor on the dot product of query and key.",
    }),
    field<&Architecture::Attention::mscale, &kNumberExprType>({
        .name = "mscale",
        .fallback = "0",
        .doc = "With the rope scaling `yarn` another factor on it, "
               "(0.1 * mscale * ln(rope.factor) + 1)^2.",
    }),
    field<&Architecture::Attention::clamp, &kNumberOrNullExprType>({
        .name = "clamp",
        .fallback = "null",
        .doc =
            "With `gqa`: queries, keys (behind their norm, before their rotation) and values are "
            "at most this far from 0; null: not.",
    }),
    field<&Architecture::Attention::window, &kIntegerOrNullExprType>({
        .name = "window",
        .fallback = "null",
        .doc = "Keys that a query sees, its own included; null: all before it.",
    }),
    field<&Architecture::Attention::window_layers, &kBooleansOrNullExprType>({
        .name = "window_layers",
        .fallback = "null",
        .doc = "Which layers have the window: a list that is repeated over the layers; null: all.",
    }),
    field<&Architecture::Attention::window_from, &kIntegerExprType>({
        .name = "window_from",
        .fallback = "0",
        .doc = "The first layer that may have the window.",
    }),
};
constexpr Table kAttentionTable = {"attention", kAttention};

constexpr Field kRope[] = {
    field<&Architecture::Rope::style, &kWordType>({
        .name = "style",
        .doc = "Which elements are rotated together. `half`: (i, i + dims/2); `interleaved`: "
               "(2i, 2i + 1).",
        .choices = kRopeStyles,
    }),
    field<&Architecture::Rope::dims, &kIntegerExprType>({
        .name = "dims",
        .fallback = "$head_dim",
        .doc = "Elements of each head that are rotated: with `gqa` the first, with `mla` the last.",
    }),
    field<&Architecture::Rope::theta, &kNumberExprType>({
        .name = "theta",
        .doc = "Base of the frequencies theta^(-2i/dims).",
    }),
    field<&Architecture::Rope::scaling, &kWordType>({
        .name = "scaling",
        .fallback = "none",
        .doc = "Change of the frequencies for long contexts. `linear`: divided by `factor`. "
               "`llama3`: low ones divided by `factor`, high ones kept, a ramp between. `yarn`: "
               "the same by the number of turns in `original_tokens` (arXiv:2309.00071).",
        .choices = kRopeScalings,
    }),
    field<&Architecture::Rope::factor, &kNumberExprType>({
        .name = "factor",
        .fallback = "1.0",
        .doc = "Of `scaling`: how many times longer contexts become.",
    }),
    field<&Architecture::Rope::original_tokens, &kNumberExprType>({
        .name = "original_tokens",
        .fallback = "$max_tokens",
        .doc = "Of `llama3` and `yarn`: the context before it.",
    }),
    field<&Architecture::Rope::low_freq_factor, &kNumberExprType>({
        .name = "low_freq_factor",
        .fallback = "1.0",
        .doc = "Of `llama3`: turns in the original context up to which a frequency is low.",
    }),
    field<&Architecture::Rope::high_freq_factor, &kNumberExprType>({
        .name = "high_freq_factor",
        .fallback = "4.0",
        .doc = "Of `llama3`: turns from which it is high.",
    }),
    field<&Architecture::Rope::beta_fast, &kNumberExprType>({
        .name = "beta_fast",
        .fallback = "32.0",
        .doc = "Of `yarn`: turns from which a frequency is kept.",
    }),
    field<&Architecture::Rope::beta_slow, &kNumberExprType>({
        .name = "beta_slow",
        .fallback = "1.0",
        .doc = "Of `yarn`: turns up to which it is divided by `factor`.",
    }),
    field<&Architecture::Rope::truncate, &kBooleanExprType>({
        .name = "truncate",
        .fallback = "true",
        .doc = "Of `yarn`: whether the ends of the ramp are rounded outwards to whole pairs.",
    }),
    field<&Architecture::Rope::attention_factor, &kNumberOrNullExprType>({
        .name = "attention_factor",
        .fallback = "null",
        .doc = "Of `yarn`: factor on cosines and sines; null: m(mscale) / m(mscale_all), or m(1) "
               "without them, with m(s) = 0.1 * s * ln(factor) + 1.",
    }),
    field<&Architecture::Rope::mscale, &kNumberOrNullExprType>({
        .name = "mscale",
        .fallback = "null",
        .doc = "Of `yarn`: see `attention_factor`.",
    }),
    field<&Architecture::Rope::mscale_all, &kNumberOrNullExprType>({
        .name = "mscale_all",
        .fallback = "null",
        .doc = "Of `yarn`: see `attention_factor`.",
    }),
};
constexpr Table kRopeTable = {"rope", kRope};

constexpr Choice kActivations[] = {{"silu", static_cast<int64_t>(Activation::kSilu)}};
constexpr Choice kGated[] = {{"true", 1}};

constexpr Field kFfn[] = {
    field<&Architecture::Ffn::activation>({
        .name = "activation",
        .doc = "`silu`: x / (1 + exp(-x)).",
        .choices = kActivations,
    }),
    field<&Architecture::Ffn::gated, &kChoiceType<bool>>({
        .name = "gated",
        .doc = "`true`: down(activation(gate(x)) * up(x)).",
        .choices = kGated,
    }),
    field<&Architecture::Ffn::clamp, &kNumberExprType>({
        .name = "clamp",
        .fallback = "0",
        .doc = "If not 0: gate(x) is at most this, and up(x) at most this far from 0.",
    }),
    field<&Architecture::Ffn::alpha, &kNumberExprType>({
        .name = "alpha",
        .fallback = "0",
        .doc = "If not 0: the activation is x / (1 + exp(-alpha * x)).",
    }),
    field<&Architecture::Ffn::up_offset, &kNumberExprType>({
        .name = "up_offset",
        .fallback = "0",
        .doc = "Added to up(x).",
    }),
};
constexpr Table kFfnTable = {"ffn", kFfn};

constexpr Choice kRouterApplies[] = {{"output", static_cast<int64_t>(RouterApply::kOutput)}};

constexpr Field kGroups[] = {
    field<&Architecture::Router::Groups::count, &kIntegerExprType>({
        .name = "count",
        .fallback = "0",
        .doc = "Equal runs of experts; 0 or 1: no groups.",
    }),
    field<&Architecture::Router::Groups::keep, &kIntegerExprType>({
        .name = "keep",
        .fallback = "1",
        .doc = "So many groups, the best, are kept.",
    }),
    field<&Architecture::Router::Groups::rule, &kWordType>({
        .name = "rule",
        .fallback = "max",
        .doc = "What a group counts by: its largest score plus `select_bias`, or the sum of its "
               "two largest.",
        .choices = kGroupRules,
    }),
    field<&Architecture::Router::Groups::mask, &kWordType>({
        .name = "mask",
        .fallback = "negative_infinity",
        .doc = "What stands in for the scores of the groups that are not kept.",
        .choices = kGroupMasks,
    }),
};
constexpr Table kGroupsTable = {"groups", kGroups};

// Parts that stand in the Architecture itself.
constexpr Field whole(Field description) {
  description.member = [](void* object) { return object; };
  return description;
}

constexpr Field part(Field description, const Table& table) {
  description.table = &table;
  description.type = &kTableType;
  return description;
}

constexpr Field kRouter[] = {
    field<&Architecture::Router::score, &kWordType>({
        .name = "score",
        .fallback = "softmax",
        .doc = "Of each expert, from its logit: `softmax` over all of them, or `sigmoid` of its "
               "own. The best top_k by score plus `select_bias` are chosen.",
        .choices = kRouterScores,
    }),
    field<&Architecture::Router::renormalize, &kBooleanExprType>({
        .name = "renormalize",
        .fallback = "false",
        .doc = "Whether the chosen scores are divided by their sum. Softmax over the chosen logits "
               "alone is the same as true.",
    }),
    field<&Architecture::Router::scale, &kNumberExprType>({
        .name = "scale",
        .fallback = "1.0",
        .doc = "Factor on the chosen scores.",
    }),
    field<&Architecture::Router::apply>({
        .name = "apply",
        .fallback = "output",
        .doc = "`output`: a score multiplies what its expert puts out.",
        .choices = kRouterApplies,
    }),
    field<&Architecture::Router::groups>(part(
        {.name = "groups", .fallback = "{}", .doc = "Only experts of the best groups are chosen."},
        kGroupsTable)),
};
constexpr Table kRouterTable = {"router", kRouter};

constexpr Field kArchitecture[] = {
    {
        .name = "apiVersion",
        .doc = "Version of this schema.",
        .choices = kApiVersions,
        .type = &kChoiceType<int>,
    },
    {
        .name = "kind",
        .doc = "Kind of this document.",
        .choices = kKinds,
        .type = &kChoiceType<int>,
    },
    whole(part({.name = "metadata", .doc = "About this document."}, kMetadataTable)),
    whole({
        .name = "match",
        .doc = "By vocabulary: metadata keys and the values that make a model one of this "
               "architecture. All keys must fit.",
        .type = &kMatchType,
    }),
    whole({
        .name = "require",
        .fallback = "{}",
        .doc = "By vocabulary: metadata keys that would change the mathematics, and the values "
               "that this document covers. A model that has such a key with another value is "
               "refused; a model without the key is fine.",
        .type = &kRequireType,
    }),
    whole({
        .name = "dims",
        .doc = "By vocabulary: where the hyperparameters stand in the metadata.",
        .type = &kDimsType,
    }),
    field<&Architecture::embedding>(
        part({.name = "embedding", .fallback = "{}", .doc = "The embedding."}, kEmbeddingTable)),
    field<&Architecture::norm>(part({.name = "norm", .doc = "Every norm."}, kNormTable)),
    field<&Architecture::topology>({
        .name = "topology",
        .doc = "How a layer is put together. `pre`: x += attention(norm(x)), then "
               "x += ffn(norm(x)).",
        .choices = kTopologies,
    }),
    field<&Architecture::residual_scale, &kNumberExprType>({
        .name = "residual_scale",
        .fallback = "1.0",
        .doc = "Factor on what attention and ffn add to x.",
    }),
    field<&Architecture::logits>(
        part({.name = "logits", .fallback = "{}", .doc = "The logits."}, kLogitsTable)),
    field<&Architecture::layers>(
        part({.name = "layers",
              .fallback = "{}",
              .doc = "Which layers are dense, in a model that has experts. The others add what the "
                     "chosen experts put out, and what a shared expert does."},
             kLayersTable)),
    field<&Architecture::attention>(
        part({.name = "attention", .doc = "Attention."}, kAttentionTable)),
    field<&Architecture::rope>(part({.name = "rope", .doc = "Rotary positions."}, kRopeTable)),
    field<&Architecture::ffn>(
        part({.name = "ffn", .doc = "An expert, a shared one and the ffn of a dense layer."},
             kFfnTable)),
    field<&Architecture::router>(
        part({.name = "router", .fallback = "{}", .doc = "How experts are chosen and weighted."},
             kRouterTable)),
    whole({
        .name = "tensors",
        .doc = "By vocabulary: what the checkpoint calls its tensors.",
        .type = &kTensorsType,
    }),
};

}  // namespace

constexpr Table kArchitectureTable = {"Architecture", kArchitecture, kArchitecturePage};

}  // namespace colibri::config
