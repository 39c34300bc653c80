// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/hyperparameters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/base/portable_math.h"

namespace colibri::model {
namespace {

using config::Expr;
using config::Type;

// Every count, position and id fits an int32.
constexpr int64_t kLargestCount = std::numeric_limits<int32_t>::max();

// Evaluates options and notes what is wrong with them.
class Reader {
 public:
  Reader(const Dimensions& dimensions, Problems* problems)
      : dimensions_(dimensions), problems_(*problems) {}

  void problem(const std::string& text) { problems_.add(text); }
  std::string text(std::string_view dimension) const { return dimensions_.text(dimension); }

  // A dimension that is a count. After a problem it is `harmless`: a value that makes no second
  // problem out of the first one when counts are compared.
  int64_t count(std::string_view name, int64_t harmless) {
    const Result<Evaluated> found = dimensions_.find(name, Type::kInteger);
    // A failed dimension was reported when it was evaluated.
    if (!found.ok() || found->is_null()) return harmless;
    const int64_t value = std::get<int64_t>(found->value);
    if (value >= 1 && value <= kLargestCount) return value;
    problem(text(name) + " must be from 1 to " + std::to_string(kLargestCount));
    return harmless;
  }

  bool boolean(const Expr& expression) {
    const std::optional<Evaluated> found = value(expression, Type::kBoolean, false);
    return found && std::get<bool>(found->value);
  }

  double positive(const Expr& expression) {
    const std::optional<Evaluated> found = value(expression, Type::kNumber, false);
    if (!found) return 1;
    const double number = std::get<double>(found->value);
    const float single = static_cast<float>(number);
    if (single > 0 && std::isfinite(single)) return number;
    problem(expression.place() + ": is " + number_text(number) + dimensions_.origin(*found) +
            ", and must be greater than 0 and fit a 32-bit float");
    return 1;
  }

  // An integer from `least` to `most`; nullopt = null, or after a problem.
  std::optional<int64_t> integer(const Expr& expression, bool nullable, int64_t least,
                                 int64_t most) {
    const std::optional<Evaluated> found = value(expression, Type::kInteger, nullable);
    if (!found) return std::nullopt;
    const int64_t number = std::get<int64_t>(found->value);
    if (number >= least && number <= most) return number;
    problem(expression.place() + ": is " + std::to_string(number) + dimensions_.origin(*found) +
            ", and must be from " + std::to_string(least) + " to " + std::to_string(most) +
            (nullable ? ", or null for none" : ""));
    return std::nullopt;
  }

 private:
  std::optional<Evaluated> value(const Expr& expression, Type type, bool nullable) {
    Result<Evaluated> result = evaluate(expression, type, nullable, dimensions_);
    if (result.ok() && result->is_null()) return std::nullopt;
    if (result.ok()) return std::move(*result);
    // An option of a dimension that failed was reported with the dimension.
    if (problems_.empty()) problem(result.status().text());
    return std::nullopt;
  }

  const Dimensions& dimensions_;
  Problems& problems_;
};

void read_counts(Reader* reader, ModelSpec* spec, int64_t* layers) {
  *layers = reader->count("layers", 1);
  spec->hidden = reader->count("hidden", 1);
  spec->vocabulary = reader->count("vocabulary", kLargestCount);
  spec->max_tokens = reader->count("max_tokens", 1);
  spec->heads = reader->count("heads", 0);
  spec->kv_heads = reader->count("kv_heads", 1);
  spec->head_dim = reader->count("head_dim", kLargestCount);
  spec->experts = reader->count("experts", kLargestCount);
  spec->top_k = reader->count("top_k", 1);
  spec->expert_inner = reader->count("expert_inner", 1);
  if (spec->top_k > spec->experts) {
    reader->problem(reader->text("top_k") + " is more than " + reader->text("experts"));
  }
  spec->value_dim = spec->head_dim;
  if (spec->heads % spec->kv_heads != 0) {
    reader->problem(reader->text("heads") + " is no multiple of " + reader->text("kv_heads"));
  }
}

void read_rope(const config::Architecture::Rope& rope, Reader* reader, ModelSpec* spec) {
  spec->rope.style =
      rope.style == config::RopeStyle::kHalf ? COLIBRI_ROPE_HALF : COLIBRI_ROPE_INTERLEAVED;
  spec->rope.theta = reader->positive(rope.theta);
  spec->rope.dims = reader->integer(rope.dims, false, 2, spec->head_dim).value_or(2);
  if (spec->rope.dims % 2 != 0) {
    reader->problem(rope.dims.place() + ": is " + std::to_string(spec->rope.dims) +
                    ", and must be even, because elements are rotated in pairs; " +
                    reader->text("head_dim"));
  }
  spec->rope.frequencies.clear();
  for (int64_t i = 0; i < spec->rope.dims / 2; ++i) {
    // Rounded as transformers does it (modeling_rope_utils, default scaling).
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(spec->rope.dims);
    spec->rope.frequencies.push_back(
        1.0f / portable_math_table().pow(static_cast<float>(spec->rope.theta), exponent));
  }
}

}  // namespace

void read_hyperparameters(const config::Architecture& architecture, const Dimensions& dimensions,
                          ModelSpec* spec, int64_t* layers, int64_t* window, Problems* problems) {
  Reader reader(dimensions, problems);
  spec->architecture = architecture.name;
  read_counts(&reader, spec, layers);
  spec->eps = static_cast<float>(reader.positive(architecture.norm.eps));
  spec->embedding_scale = static_cast<float>(reader.positive(architecture.embedding.scale));
  spec->attention_scale = static_cast<float>(
      architecture.attention.scale ? reader.positive(*architecture.attention.scale)
                                   : 1 / std::sqrt(static_cast<double>(spec->head_dim)));
  spec->router.renormalize = reader.boolean(architecture.router.renormalize);
  read_rope(architecture.rope, &reader, spec);
  *window = reader.integer(architecture.attention.window, true, 1, kLargestCount).value_or(0);
}

void read_special_ids(const ModelSource& source, ModelSpec* spec, Problems* problems) {
  const auto read_id = [&](std::string_view key, uint64_t index) -> std::optional<int32_t> {
    const Result<colibri_value> value = source.metadata(key, index);
    if (!value.ok()) return std::nullopt;
    if (value->kind == COLIBRI_VALUE_NONE && index == COLIBRI_WHOLE) return std::nullopt;
    if (value->kind == COLIBRI_VALUE_INT && value->i >= 0 && value->i < spec->vocabulary) {
      return static_cast<int32_t>(value->i);
    }
    problems->add(source.place_of(key) + " is " + value_text(*value) +
                  ", not an id of the vocabulary, 0 to " + std::to_string(spec->vocabulary - 1));
    return std::nullopt;
  };
  for (const std::string_view key :
       {"eos_token_id", "generation_config.eos_token_id", "tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    const Result<colibri_value> value = source.metadata(key);
    const bool list = value.ok() && value->kind == COLIBRI_VALUE_ARRAY;
    for (uint64_t i = 0; i < (list ? value->n : 1); ++i) {
      const std::optional<int32_t> id = read_id(key, list ? i : COLIBRI_WHOLE);
      if (id) spec->eos.push_back(*id);
    }
  }
  std::sort(spec->eos.begin(), spec->eos.end());
  spec->eos.erase(std::unique(spec->eos.begin(), spec->eos.end()), spec->eos.end());
  for (const std::string_view key :
       {"bos_token_id", "generation_config.bos_token_id", "tokenizer.ggml.bos_token_id"}) {
    const std::optional<int32_t> id = read_id(key, COLIBRI_WHOLE);
    if (id && spec->bos < 0) spec->bos = *id;
  }
}

}  // namespace colibri::model
