// SPDX-License-Identifier: Apache-2.0
// Architecture: how the models of a family compute and what their checkpoints call things, read
// from a YAML document of kind Architecture. Every key is described by the tables in
// architecture_schema.cc.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/expression.h"
#include "runtime/config/schema.h"
#include "runtime/config/value.h"

namespace colibri::config {

// A metadata key and the values it may have, or must not have. Metadata is flat, so an object is there as the keys
// below it: a model has the key "rope_scaling" if it has "rope_scaling" or any "rope_scaling.*",
// and then its value is no literal, so that `rope_scaling: [null]` refuses every object.
struct Condition {
  std::string key;              // "model_type", "rope_parameters.rope_type"
  std::vector<Literal> values;  // null also stands for a key that is not there
  bool negated = false;         // { not: [...] }: any value but these
  Position position;
};

// One hyperparameter: its name in this runtime, and how it follows from the metadata.
struct Dimension {
  std::string name;  // "layers", "head_dim", ...: see the table in architecture_schema.cc
  Type type = Type::kInteger;
  bool nullable = false;  // null is a value: there is none (sliding_window)
  Expr value;             // references are metadata keys
};

// Which rows of a stored matrix are meant: of every `group` consecutive ones, `count` beginning with
// the `from`-th. Each such piece may be transposed.
struct RowSelection {
  Expr group, from, count;  // integers over `dims`
  bool transpose = false;
};

// What a tensor of a role is called in a checkpoint, and how it lies there. A role may have several:
// the first whose tensor is there counts.
struct TensorTemplate {
  enum class Scope { kModel, kLayer, kDense, kShared, kExpert };
  Scope scope = Scope::kModel;
  std::string role;        // "embedding", "q", "gate", ...
  std::string pattern;     // with {l} for the layer (all but kModel) and {e} for the expert
  bool blocks = false;     // u8, the last dimension the 16 bytes of a block of mxfp4
  std::string scales;      // the tensor of its scales; empty = none
  Expr when;               // boolean over `dims`; false = the model has no such tensor
  Expr optional;           // boolean over `dims`; true = it may be absent
  std::string tied_to;     // the role whose tensor stands in if it is absent; empty = none
  bool slice = false;      // one tensor for all experts: {e} is the index of its first dimension
  bool transpose = false;  // stored as [columns, rows]
  std::optional<RowSelection> rows;  // of the matrix, after transposing; nullopt = all
  Position position;
  std::string key;  // "tensors.hf.layer.q"
};

// The names of one kind of checkpoint.
struct Vocabulary {
  std::string name;                // as format plugins call it: "hf", "gguf"
  std::vector<Condition> match;    // a model is of this architecture if all of them hold
  std::vector<Condition> require;  // a key that is there has one of these values, else refuse:
                                   // anything else would change the mathematics
  std::vector<Dimension> dims;
  std::vector<TensorTemplate> tensors;  // those of a role in the order of preference
  std::vector<std::string> ignore;      // globs (* and ?) of tensors that are of no use, with
                                        // {layers} for the number of layers

  const Dimension* dimension(std::string_view dimension_name) const;  // nullptr = not given
  bool names(TensorTemplate::Scope scope) const;  // whether there is a tensor of this scope
  bool names(TensorTemplate::Scope scope, std::string_view role) const;
};

enum class NormKind { kRms };
enum class Topology { kPre };  // x += attention(norm(x)); x += ffn(norm(x))
enum class AttentionKind { kGqa, kMla };
enum class QkNorm { kNone, kHead, kFull };
enum class RopeStyle { kHalf, kInterleaved };  // pairs (i, i + dims/2), or (2i, 2i + 1)
enum class RopeScaling { kNone, kLinear, kLlama3, kYarn };
enum class Activation { kSilu };
enum class RouterScore { kSoftmax, kSigmoid };
enum class GroupRule { kMax, kTop2Sum };
enum class GroupMask { kNegativeInfinity, kZero };
enum class RouterApply { kOutput };  // the score multiplies what an expert puts out

// One of some words, each of which stands for an enumerator.
struct Word {
  Expr expr;  // a text
  std::span<const Choice> choices;
};

// Expressions in block options refer to names of `dims`, which every vocabulary gives.
struct Architecture {
  std::string name;
  Position position;  // of the document

  std::vector<Vocabulary> vocabularies;
  const Vocabulary* vocabulary(std::string_view vocabulary_name) const;  // nullptr = none

  struct Embedding {
    Expr scale;  // number; on the rows of the embedding
  } embedding;
  struct Norm {
    NormKind kind = NormKind::kRms;
    Expr eps;         // number
    Expr latent_eps;  // number, of the norms of latents; null = eps
  } norm;
  Topology topology = Topology::kPre;
  Expr residual_scale;  // number; on what attention and ffn add to the residual
  struct Logits {
    Expr scale;  // number
  } logits;
  struct Layers {
    Expr first_dense;  // integer: so many layers, from the first, have no experts
    Expr moe_every;    // integer: of the others every so many-th has experts
    Expr dense;        // integers: layers that have none in any case
  } layers;
  struct Attention {
    AttentionKind kind = AttentionKind::kGqa;
    Word qk_norm;               // QkNorm
    std::optional<Expr> scale;  // number; nullopt = 1 / sqrt(head_dim)
    Expr mscale;                // number: see the table
    Expr clamp;          // number: queries, keys and values at most so far from 0; null = not
    Expr window;         // integer: keys a query sees, itself included; null = all
    Expr window_layers;  // booleans, repeated: which layers have the window; null = all
    Expr window_from;    // integer: the first layer that may have it
  } attention;
  struct Rope {
    Word style;    // RopeStyle
    Expr dims;     // integer: rotated elements of each head
    Expr theta;    // number: base of the frequencies
    Word scaling;  // RopeScaling; those below are its parameters
    Expr factor, original_tokens, low_freq_factor, high_freq_factor, beta_fast,
        beta_slow;                              // numbers
    Expr truncate;                              // boolean
    Expr attention_factor, mscale, mscale_all;  // numbers or null
  } rope;
  struct Ffn {
    Activation activation = Activation::kSilu;
    bool gated = true;             // act(gate(x)) * up(x)
    Expr clamp, alpha, up_offset;  // numbers; 0 = not
  } ffn;
  struct Router {
    Word score;        // RouterScore
    Expr renormalize;  // boolean: the chosen scores are divided by their sum
    Expr scale;        // number, on the chosen scores
    RouterApply apply = RouterApply::kOutput;
    struct Groups {
      Expr count, keep;  // integers; 0 or 1 = no groups
      Word rule;         // GroupRule
      Word mask;         // GroupMask
    } groups;
  } router;
};

// What a parsed document says; of no use if there are problems.
Architecture read_architecture(Value document, Problems& problems);
// Reads one document. The Status holds every problem, one a line; `problems`, unless null, gets
// them as a list.
Result<Architecture> load_architecture(const std::filesystem::path& file,
                                       std::vector<Problem>* problems = nullptr);
// Reads every *.yaml of a folder, in the order of their names; two of one name are an error.
Result<std::vector<Architecture>> load_architectures(const std::filesystem::path& folder);

}  // namespace colibri::config
