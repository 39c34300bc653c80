// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/architecture_schema.h"

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
};
constexpr Table kNormTable = {"norm", kNorm};

constexpr Choice kTopologies[] = {{"pre", static_cast<int64_t>(Topology::kPre)}};

constexpr Choice kAttentionKinds[] = {{"gqa", static_cast<int64_t>(AttentionKind::kGqa)}};

constexpr Field kAttention[] = {
    field<&Architecture::Attention::kind>({
        .name = "kind",
        .doc = "`gqa`: query heads share key and value heads in groups of heads / kv_heads.",
        .choices = kAttentionKinds,
    }),
    field<&Architecture::Attention::scale, &kAttentionScaleType>({
        .name = "scale",
        .fallback = "inverse_sqrt_head_dim",
        .doc = "Factor on the dot product of query and key.",
    }),
    field<&Architecture::Attention::window, &kIntegerOrNullExprType>({
        .name = "window",
        .fallback = "null",
        .doc = "Keys that a query sees, its own included; null: all before it.",
    }),
};
constexpr Table kAttentionTable = {"attention", kAttention};

constexpr Choice kRopeStyles[] = {
    {"half", static_cast<int64_t>(RopeStyle::kHalf)},
    {"interleaved", static_cast<int64_t>(RopeStyle::kInterleaved)},
};
constexpr Choice kRopeScalings[] = {{"none", static_cast<int64_t>(RopeScaling::kNone)}};

constexpr Field kRope[] = {
    field<&Architecture::Rope::style>({
        .name = "style",
        .doc = "Which elements are rotated together. `half`: (i, i + dims/2); `interleaved`: "
               "(2i, 2i + 1).",
        .choices = kRopeStyles,
    }),
    field<&Architecture::Rope::dims, &kIntegerExprType>({
        .name = "dims",
        .fallback = "$head_dim",
        .doc = "Elements of each head that are rotated, from its start.",
    }),
    field<&Architecture::Rope::theta, &kNumberExprType>({
        .name = "theta",
        .doc = "Base of the frequencies theta^(-2i/dims).",
    }),
    field<&Architecture::Rope::scaling>({
        .name = "scaling",
        .fallback = "none",
        .doc = "Change of the frequencies for long contexts.",
        .choices = kRopeScalings,
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
};
constexpr Table kFfnTable = {"ffn", kFfn};

constexpr Choice kRouterScores[] = {{"softmax", static_cast<int64_t>(RouterScore::kSoftmax)}};
constexpr Choice kRouterApplies[] = {{"output", static_cast<int64_t>(RouterApply::kOutput)}};

constexpr Field kRouter[] = {
    field<&Architecture::Router::score>({
        .name = "score",
        .doc = "`softmax`: softmax over all experts; the best top_k are chosen.",
        .choices = kRouterScores,
    }),
    field<&Architecture::Router::renormalize, &kBooleanExprType>({
        .name = "renormalize",
        .doc = "Whether the chosen scores are divided by their sum. Softmax over the chosen logits "
               "alone is the same as true.",
    }),
    field<&Architecture::Router::apply>({
        .name = "apply",
        .fallback = "output",
        .doc = "`output`: a score multiplies what its expert puts out.",
        .choices = kRouterApplies,
    }),
};
constexpr Table kRouterTable = {"router", kRouter};

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
               "x += experts(norm(x)).",
        .choices = kTopologies,
    }),
    field<&Architecture::attention>(
        part({.name = "attention", .doc = "Attention."}, kAttentionTable)),
    field<&Architecture::rope>(part({.name = "rope", .doc = "Rotary positions."}, kRopeTable)),
    field<&Architecture::ffn>(part({.name = "ffn", .doc = "An expert."}, kFfnTable)),
    field<&Architecture::router>(
        part({.name = "router", .doc = "How experts are chosen and weighted."}, kRouterTable)),
    whole({
        .name = "tensors",
        .doc = "By vocabulary: what the checkpoint calls its tensors.",
        .type = &kTensorsType,
    }),
};

constexpr DimensionField kDimensions[] = {
    {.name = "layers", .doc = "Layers."},
    {.name = "hidden", .doc = "Width of the residual stream."},
    {.name = "vocabulary", .doc = "Rows of the embedding."},
    {.name = "max_tokens", .doc = "Longest sequence the model was made for."},
    {.name = "heads", .doc = "Query heads."},
    {.name = "kv_heads", .doc = "Key and value heads."},
    {.name = "head_dim", .doc = "Width of a head."},
    {.name = "experts", .doc = "Experts of a layer."},
    {.name = "top_k", .doc = "Experts that a token visits."},
    {.name = "expert_inner", .doc = "Inner width of an expert."},
    {.name = "eps", .type = Type::kNumber, .required = false, .doc = "For `norm.eps`."},
    {.name = "rope_theta", .type = Type::kNumber, .required = false, .doc = "For `rope.theta`."},
    {.name = "renormalize",
     .type = Type::kBoolean,
     .required = false,
     .doc = "For `router.renormalize`."},
    {.name = "sliding_window",
     .nullable = true,
     .required = false,
     .doc = "For `attention.window`; null: none."},
    {.name = "tied",
     .type = Type::kBoolean,
     .required = false,
     .doc = "Whether the head is the embedding; for `optional` of the head."},
};

constexpr std::string_view kPage = R"(# Architecture documents

An architecture document says how the models of a family compute and what their checkpoints call
things, so that a new family needs no C++. `configs/architectures/mixtral.yaml` is a whole one. The
documents of `share/colibri/architectures` are known by name; a pipeline may also name a file
(`model.architecture`).

A *vocabulary* is the names that one kind of checkpoint uses: `hf` for Hugging Face folders. `match`
names the vocabularies of a document; `dims` and `tensors` have a part for each of them.

Where a value is called an expression it is one of

- a literal: `10000.0`, `true`, and where it is allowed `null`;
- `$name`: in `dims` a metadata key (`$rope_parameters.rope_theta` reads an object within
  config.json), in the block options a name of `dims`;
- `{ first: [a, b, ...] }`: the first operand that the model has and that is not null, or null;
- `{ div: [a, b] }`: the quotient; of integers it must leave no remainder.

A tensor is a name, or `{ name: ..., tied_to: role, optional: expression }`: where `optional` is
true and the checkpoint lacks the tensor, that of the other role takes its place. `{l}` stands for
the number of the layer and `{e}` for that of the expert. A tensor of a checkpoint that no role and
no glob of `ignore` names is an error when the model is loaded.
)";

using Scope = TensorTemplate::Scope;
constexpr RoleField kRoles[] = {
    {"embedding", "embedding", Scope::kModel, "[vocabulary, hidden]"},
    {"head", "head", Scope::kModel, "[vocabulary, hidden]"},
    {"final_norm", "final_norm", Scope::kModel, "[hidden]"},
    {"attention_norm", "layer.attention_norm", Scope::kLayer, "[hidden]"},
    {"q", "layer.q", Scope::kLayer, "[heads * head_dim, hidden]"},
    {"k", "layer.k", Scope::kLayer, "[kv_heads * head_dim, hidden]"},
    {"v", "layer.v", Scope::kLayer, "[kv_heads * head_dim, hidden]"},
    {"o", "layer.o", Scope::kLayer, "[hidden, heads * head_dim]"},
    {"ffn_norm", "layer.ffn_norm", Scope::kLayer, "[hidden]"},
    {"router", "layer.router", Scope::kLayer, "[experts, hidden]"},
    {"gate", "expert.gate", Scope::kExpert, "[expert_inner, hidden]"},
    {"up", "expert.up", Scope::kExpert, "[expert_inner, hidden]"},
    {"down", "expert.down", Scope::kExpert, "[hidden, expert_inner]"},
};

}  // namespace

constexpr Table kArchitectureTable = {"Architecture", kArchitecture, kPage};
constexpr std::span<const DimensionField> kDimensionFields = kDimensions;
constexpr std::span<const RoleField> kRoleFields = kRoles;

}  // namespace colibri::config
