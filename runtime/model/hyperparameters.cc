// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/hyperparameters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace colibri::model {
namespace {

using config::Expr;
using config::Type;

// Every count, position and id fits an int32.
constexpr int64_t kLargestCount = std::numeric_limits<int32_t>::max();

// Evaluates options and notes what is wrong with them. After a problem a value is 1, which is
// harmless to whoever checks on.
class Reader {
 public:
  Reader(const Dimensions& dimensions, Problems* problems)
      : dimensions_(dimensions), problems_(*problems) {}

  void problem(const std::string& text) { problems_.add(text); }
  std::string text(std::string_view dimension) const { return dimensions_.text(dimension); }

  int64_t count(std::string_view name) {
    const Result<Evaluated> found = dimensions_.find(name, Type::kInteger);
    // A failed dimension was reported when it was evaluated.
    if (!found.ok() || found->is_null()) return 1;
    const int64_t value = std::get<int64_t>(found->value);
    if (value >= 1 && value <= kLargestCount) return value;
    problem(text(name) + " must be from 1 to " + std::to_string(kLargestCount));
    return 1;
  }

  std::optional<int64_t> integer(const Expr& expression, bool nullable) {
    return value<int64_t>(expression, Type::kInteger, nullable);
  }

  bool boolean(const Expr& expression) {
    return value<bool>(expression, Type::kBoolean, false).value_or(false);
  }

  double positive(const Expr& expression) {
    const std::optional<double> number = value<double>(expression, Type::kNumber, false);
    if (!number) return 1;
    const float single = static_cast<float>(*number);
    if (single > 0 && std::isfinite(single)) return *number;
    problem(expression.place() + ": must be greater than 0 and fit a 32-bit float");
    return 1;
  }

 private:
  template <typename T>
  std::optional<T> value(const Expr& expression, Type type, bool nullable) {
    const Result<Evaluated> result = evaluate(expression, type, nullable, dimensions_);
    if (result.ok() && result->is_null()) return std::nullopt;
    if (result.ok()) return std::get<T>(result->value);
    // An option of a dimension that failed was reported with the dimension.
    if (problems_.empty()) problem(result.status().text());
    return std::nullopt;
  }

  const Dimensions& dimensions_;
  Problems& problems_;
};

void read_rope(const config::Architecture::Rope& rope, Reader* reader, ModelSpec* spec) {
  spec->rope.style =
      rope.style == config::RopeStyle::kHalf ? COLIBRI_ROPE_HALF : COLIBRI_ROPE_INTERLEAVED;
  spec->rope.theta = reader->positive(rope.theta);
  const std::optional<int64_t> dims = reader->integer(rope.dims, false);
  if (!dims) return;
  spec->rope.dims = *dims;
  const std::string place = rope.dims.place() + ": " + std::to_string(*dims);
  if (*dims < 2 || *dims > spec->head_dim) {
    reader->problem(place + " must be from 2 to " + reader->text("head_dim"));
  } else if (*dims % 2 != 0) {
    reader->problem(place + " is odd, and elements are rotated in pairs; " +
                    reader->text("head_dim"));
  }
}

}  // namespace

void read_hyperparameters(const config::Architecture& architecture, const Dimensions& dimensions,
                          ModelSpec* spec, int64_t* layers, int64_t* window, Problems* problems) {
  Reader reader(dimensions, problems);
  spec->architecture = architecture.name;
  *layers = reader.count("layers");
  spec->hidden = reader.count("hidden");
  spec->vocabulary = reader.count("vocabulary");
  spec->max_tokens = reader.count("max_tokens");
  spec->heads = reader.count("heads");
  spec->kv_heads = reader.count("kv_heads");
  spec->head_dim = reader.count("head_dim");
  spec->experts = reader.count("experts");
  spec->top_k = reader.count("top_k");
  spec->expert_inner = reader.count("expert_inner");
  if (spec->top_k > spec->experts) {
    reader.problem(reader.text("top_k") + " is more than " + reader.text("experts"));
  }
  if (spec->heads % spec->kv_heads != 0) {
    reader.problem(reader.text("heads") + " is no multiple of " + reader.text("kv_heads"));
  }

  spec->eps = static_cast<float>(reader.positive(architecture.norm.eps));
  spec->embedding_scale = static_cast<float>(reader.positive(architecture.embedding.scale));
  spec->attention_scale = static_cast<float>(
      architecture.attention.scale ? reader.positive(*architecture.attention.scale)
                                   : 1 / std::sqrt(static_cast<double>(spec->head_dim)));
  spec->renormalize = reader.boolean(architecture.router.renormalize);
  read_rope(architecture.rope, &reader, spec);
  const std::optional<int64_t> keys = reader.integer(architecture.attention.window, true);
  *window = keys.value_or(0);
  if (keys && (*keys < 1 || *keys > kLargestCount)) {
    reader.problem(architecture.attention.window.place() + ": " + std::to_string(*keys) +
                   " must be from 1 to " + std::to_string(kLargestCount) + ", or null for none");
  }
}

void read_special_ids(const ModelSource& source, ModelSpec* spec, Problems* problems) {
  const auto read_id = [&](std::string_view key, uint64_t index) -> std::optional<int32_t> {
    const Result<colibri_value> value = source.metadata(key, index);
    if (!value.ok() || value->kind == COLIBRI_VALUE_NONE) return std::nullopt;
    if (value->kind == COLIBRI_VALUE_INT && value->i >= 0 && value->i < spec->vocabulary) {
      return static_cast<int32_t>(value->i);
    }
    problems->add(source.place_of(key) + " is " + value_text(*value) +
                  ", not an id of the vocabulary, 0 to " + std::to_string(spec->vocabulary - 1));
    return std::nullopt;
  };
  for (const std::string_view key : {"eos_token_id", "generation_config.eos_token_id"}) {
    const Result<colibri_value> value = source.metadata(key);
    const bool list = value.ok() && value->kind == COLIBRI_VALUE_ARRAY;
    for (uint64_t i = 0; i < (list ? value->n : 1); ++i) {
      const std::optional<int32_t> id = read_id(key, list ? i : COLIBRI_WHOLE);
      if (id) spec->eos.push_back(*id);
    }
  }
  std::sort(spec->eos.begin(), spec->eos.end());
  spec->eos.erase(std::unique(spec->eos.begin(), spec->eos.end()), spec->eos.end());
  for (const std::string_view key : {"bos_token_id", "generation_config.bos_token_id"}) {
    const std::optional<int32_t> id = read_id(key, COLIBRI_WHOLE);
    if (id && spec->bos < 0) spec->bos = *id;
  }
}

}  // namespace colibri::model
