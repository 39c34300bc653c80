// SPDX-License-Identifier: Apache-2.0
// Architecture: how the models of a family compute and what their checkpoints call things, read
// from a YAML document of kind Architecture. Every key is described by the tables in
// architecture_schema.cc.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/expression.h"
#include "runtime/config/value.h"

namespace colibri::config {

// A metadata key and the values it may have. Metadata is flat, so an object is there as the keys
// below it: a model has the key "rope_scaling" if it has "rope_scaling" or any "rope_scaling.*",
// and then its value is no literal, so that `rope_scaling: [null]` refuses every object.
struct Condition {
  std::string key;  // "model_type", "rope_parameters.rope_type"
  std::vector<Literal> allowed;
  Position position;
};

// One hyperparameter: its name in this runtime, and how it follows from the metadata.
struct Dimension {
  std::string name;  // "layers", "head_dim", ...: see the table in architecture_schema.cc
  Type type = Type::kInteger;
  bool nullable = false;  // null is a value: there is none (sliding_window)
  Expr value;             // references are metadata keys
};

// What a tensor of a role is called in a checkpoint.
struct TensorTemplate {
  enum class Scope { kModel, kLayer, kExpert };
  Scope scope = Scope::kModel;
  std::string role;     // "embedding", "q", "gate", ...
  std::string pattern;  // with {l} for the layer (scopes kLayer, kExpert) and {e} for the expert
  Expr optional;        // boolean over `dims`; true = it may be absent
  std::string tied_to;  // the role whose tensor stands in if it is absent; empty = none
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
  std::vector<TensorTemplate> tensors;  // every role of every scope, once
  std::vector<std::string> ignore;      // globs (* and ?) of tensors that are of no use

  const Dimension* dimension(std::string_view dimension_name) const;  // nullptr = not given
  const TensorTemplate* tensor(std::string_view role) const;          // nullptr = not given
};

enum class NormKind { kRms };
enum class Topology { kPre };  // x += attention(norm(x)); x += experts(norm(x))
enum class AttentionKind { kGqa };
enum class RopeStyle { kHalf, kInterleaved };  // pairs (i, i + dims/2), or (2i, 2i + 1)
enum class RopeScaling { kNone };
enum class Activation { kSilu };
enum class RouterScore { kSoftmax };
enum class RouterApply { kOutput };  // the score multiplies what an expert puts out

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
    Expr eps;  // number
  } norm;
  Topology topology = Topology::kPre;
  struct Attention {
    AttentionKind kind = AttentionKind::kGqa;
    std::optional<Expr> scale;  // number; nullopt = 1 / sqrt(head_dim)
    Expr window;                // integer: keys a query sees, itself included; null = all
  } attention;
  struct Rope {
    RopeStyle style = RopeStyle::kHalf;
    Expr dims;   // integer: rotated elements of each head
    Expr theta;  // number: base of the frequencies
    RopeScaling scaling = RopeScaling::kNone;
  } rope;
  struct Ffn {
    Activation activation = Activation::kSilu;
    bool gated = true;  // act(gate(x)) * up(x)
  } ffn;
  struct Router {
    RouterScore score = RouterScore::kSoftmax;
    Expr renormalize;  // boolean: the chosen scores are divided by their sum
    RouterApply apply = RouterApply::kOutput;
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
