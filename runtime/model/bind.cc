// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/bind.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/utf8.h"
#include "runtime/model/codecs.h"
#include "runtime/model/evaluate.h"
#include "runtime/model/glob.h"
#include "runtime/model/hyperparameters.h"

namespace colibri::model {
namespace {

constexpr size_t kShownTensors = 8;

// An extent of a shape: the product of one or two dimensions.
using Extent = std::vector<std::string_view>;

struct Shape {
  Extent rows;  // empty = a vector
  Extent cols;
};

Shape shape_of(Role role) {
  switch (role) {
    case Role::kEmbedding:
    case Role::kHead:
      return {{"vocabulary"}, {"hidden"}};
    case Role::kFinalNorm:
    case Role::kAttentionNorm:
    case Role::kFfnNorm:
      return {{}, {"hidden"}};
    case Role::kQ:
      return {{"heads", "head_dim"}, {"hidden"}};
    case Role::kK:
    case Role::kV:
      return {{"kv_heads", "head_dim"}, {"hidden"}};
    case Role::kO:
      return {{"hidden"}, {"heads", "head_dim"}};
    case Role::kRouter:
      return {{"experts"}, {"hidden"}};
    case Role::kGate:
    case Role::kUp:
      return {{"expert_inner"}, {"hidden"}};
    case Role::kDown:
      return {{"hidden"}, {"expert_inner"}};
    default:  // no document names the others yet
      break;
  }
  return {};
}

std::string expanded(std::string_view pattern, int64_t layer, int64_t expert) {
  std::string name;
  for (size_t at = 0; at < pattern.size();) {
    const std::string_view rest = pattern.substr(at);
    if (rest.starts_with("{l}")) {
      name += std::to_string(layer);
      at += 3;
    } else if (rest.starts_with("{e}")) {
      name += std::to_string(expert);
      at += 3;
    } else {
      name += pattern[at++];
    }
  }
  return name;
}

// Finds the tensors of every role and keeps account of which ones are used.
class Binder {
 public:
  Binder(const ModelSource& source, const config::Architecture& architecture,
         const config::Vocabulary& vocabulary, const Dimensions& dimensions, Problems* problems)
      : source_(source),
        architecture_(architecture),
        vocabulary_(vocabulary),
        dimensions_(dimensions),
        problems_(*problems),
        used_(source.tensors().size()) {}

  void bind(int64_t layers, int64_t window, ModelSpec* spec) {
    spec->embedding = weight(Role::kEmbedding, 0, 0);
    spec->final_norm = weight(Role::kFinalNorm, 0, 0);
    bind_head(spec);
    for (int64_t l = 0; l < layers; ++l) {
      LayerSpec& layer = spec->layers.emplace_back();
      layer.window = window;
      layer.attention_norm = weight(Role::kAttentionNorm, l, 0);
      layer.q = weight(Role::kQ, l, 0);
      layer.k = weight(Role::kK, l, 0);
      layer.v = weight(Role::kV, l, 0);
      layer.o = weight(Role::kO, l, 0);
      layer.ffn_norm = weight(Role::kFfnNorm, l, 0);
      layer.router = weight(Role::kRouter, l, 0);
      for (int64_t e = 0; e < spec->experts; ++e) {
        FfnSpec& expert = layer.experts.emplace_back();
        expert.inner = spec->expert_inner;
        expert.gate = weight(Role::kGate, l, e);
        expert.up = weight(Role::kUp, l, e);
        expert.down = weight(Role::kDown, l, e);
      }
    }
    report_unused();
  }

 private:
  void bind_head(ModelSpec* spec) {
    const config::TensorTemplate* head = vocabulary_.tensor(role_name(Role::kHead));
    if (head != nullptr && !head->tied_to.empty() &&
        source_.find(expanded(head->pattern, 0, 0)) == nullptr) {
      const Result<Evaluated> optional =
          evaluate(head->optional, config::Type::kBoolean, false, dimensions_);
      if (!optional.ok()) {
        problems_.add(optional.status().text());
        return;
      }
      spec->tied = std::get<bool>(optional->value);
    }
    spec->head = spec->tied ? spec->embedding : weight(Role::kHead, 0, 0);
    spec->head.role = Role::kHead;
  }

  Weight weight(Role role, int64_t layer, int64_t expert) {
    Weight weight;
    weight.role = role;
    const config::TensorTemplate* words = vocabulary_.tensor(role_name(role));
    if (words == nullptr) {
      problems_.add("architecture " + architecture_.name + " gives no name for the role " +
                    role_name(role));
      return weight;
    }
    const Shape shape = shape_of(role);
    weight.rows = shape.rows.empty() ? 1 : product(shape.rows);
    weight.cols = product(shape.cols);
    const std::string name = expanded(words->pattern, layer, expert);
    const std::string place = words->position.text() + ": " + words->key + ": ";
    weight.tensor = source_.find(name);
    if (weight.tensor == nullptr) {
      problems_.add(place + "there is no tensor " + utf8::printable(name) + " of the shape " +
                    shape_words(shape) + " = " + shape_numbers(shape));
      return weight;
    }
    const TensorEntry& tensor = *weight.tensor;
    used_[static_cast<size_t>(&tensor - source_.tensors().data())] = true;
    const bool fits = shape.rows.empty() ? tensor.rank == 1 && tensor.shape[0] == weight.cols
                                         : tensor.rank == 2 && tensor.shape[0] == weight.rows &&
                                               tensor.shape[1] == weight.cols;
    if (!fits) {
      problems_.add(place + "tensor " + utf8::printable(name) + " has the shape " +
                    shape_text(tensor) + ", not " + shape_words(shape) + " = " +
                    shape_numbers(shape) + " with " + dimension_texts(shape));
    } else if (!is_weight_codec(tensor.codec)) {
      problems_.add(place + "tensor " + utf8::printable(name) + " is stored as " +
                    codec_name(tensor.codec) + "; weights are read from f32, f16 and bf16");
    }
    return weight;
  }

  int64_t product(const Extent& extent) const {
    int64_t product = 1;
    for (const std::string_view name : extent) {
      product *= std::get<int64_t>(dimensions_.find(name, config::Type::kInteger)->value);
    }
    return product;
  }

  static std::string shape_words(const Shape& shape) {
    std::string words = "[";
    for (const Extent* extent : {&shape.rows, &shape.cols}) {
      if (extent->empty()) continue;
      if (words.size() > 1) words += ", ";
      for (size_t i = 0; i < extent->size(); ++i) {
        words += (i > 0 ? " * " : "") + std::string((*extent)[i]);
      }
    }
    return words + "]";
  }

  std::string shape_numbers(const Shape& shape) const {
    const std::string rows = shape.rows.empty() ? "" : std::to_string(product(shape.rows)) + ", ";
    return "[" + rows + std::to_string(product(shape.cols)) + "]";
  }

  std::string dimension_texts(const Shape& shape) const {
    std::string texts;
    for (const Extent* extent : {&shape.rows, &shape.cols}) {
      for (const std::string_view name : *extent) {
        texts += (texts.empty() ? "" : ", ") + dimensions_.text(name);
      }
    }
    return texts;
  }

  void report_unused() {
    std::string names;
    size_t count = 0;
    for (size_t i = 0; i < used_.size(); ++i) {
      const std::string_view name = source_.tensors()[i].name;
      const auto covers = [&](const std::string& glob) { return glob_matches(glob, name); };
      if (used_[i] || std::any_of(vocabulary_.ignore.begin(), vocabulary_.ignore.end(), covers)) {
        continue;
      }
      if (++count <= kShownTensors) names += (names.empty() ? "" : ", ") + utf8::printable(name);
    }
    if (count == 0) return;
    if (count > kShownTensors) names += " and " + std::to_string(count - kShownTensors) + " more";
    problems_.add(std::to_string(count) + (count == 1 ? " tensor is" : " tensors are") +
                  " not used by the architecture " + architecture_.name + ": " + names +
                  "; what makes no difference to the results may be listed in tensors." +
                  vocabulary_.name + ".ignore of " + *architecture_.position.file);
  }

  const ModelSource& source_;
  const config::Architecture& architecture_;
  const config::Vocabulary& vocabulary_;
  const Dimensions& dimensions_;
  Problems& problems_;
  std::vector<bool> used_;  // by index in source_.tensors()
};

// Keys whose other values would change the mathematics.
void check_required(const ModelSource& source, const config::Vocabulary& vocabulary,
                    Problems* problems) {
  for (const config::Condition& condition : vocabulary.require) {
    const Result<colibri_value> value = source.metadata(condition.key);
    const bool given = value.ok() || source.has_members(condition.key);
    if (!given || is_allowed(source, condition)) continue;
    problems->add(condition.position.text() + ": require." + vocabulary.name + ": " +
                  source.place_of(condition.key) + " is " +
                  (value.ok() ? value_text(*value) : "an object") +
                  ", which this architecture does not cover");
  }
}

// Every layer and expert has tensors of its own; a spec that would need more must not be built.
void check_counts(const ModelSource& source, const Dimensions& dimensions, int64_t layers,
                  int64_t experts, Problems* problems) {
  const int64_t tensors = static_cast<int64_t>(source.tensors().size());
  if (layers * experts <= tensors) return;
  problems->add(dimensions.text("layers") + " times " + dimensions.text("experts") +
                " is more than the number of tensors, " + std::to_string(tensors));
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
  int64_t layers = 0, window = 0;
  read_hyperparameters(architecture, dimensions, &spec, &layers, &window, &problems);
  read_special_ids(source, &spec, &problems);
  if (problems.empty()) check_counts(source, dimensions, layers, spec.experts, &problems);
  // Shapes follow from the numbers, so tensors are only looked at when those are sound.
  COLIBRI_TRY(problems.status(path));
  Binder(source, architecture, *vocabulary, dimensions, &problems).bind(layers, window, &spec);
  COLIBRI_TRY(problems.status(path));
  return spec;
}

}  // namespace colibri::model
