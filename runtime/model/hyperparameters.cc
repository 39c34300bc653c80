// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/hyperparameters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/base/utf8.h"
#include "runtime/model/rope.h"

namespace colibri::model {
namespace {

using config::Expr;
using config::Type;

// Every count, position and id fits an int32.
constexpr int64_t kLargestCount = std::numeric_limits<int32_t>::max();

// There is a frequency for every other element of a head before any tensor was looked at.
constexpr int64_t kLargestHead = int64_t{1} << 16;
// Experts of all layers. Each takes some of the host's memory, whether or not it has a tensor.
constexpr int64_t kMostExperts = int64_t{1} << 18;

// Evaluates options and notes what is wrong with them.
class Reader {
 public:
  Reader(const Dimensions& dimensions, Problems* problems)
      : dimensions_(dimensions), problems_(*problems) {}

  void problem(const std::string& text) { problems_.add(text); }
  std::string text(std::string_view dimension) const { return dimensions_.text(dimension); }

  bool is_given(std::string_view dimension) const { return dimensions_.is_given(dimension); }

  // A dimension that is a count from `least` on. After a problem it is `harmless`: a value that
  // makes no second problem out of the first one when counts are compared.
  int64_t count(std::string_view name, int64_t harmless, int64_t least = 1,
                int64_t most = kLargestCount) {
    const Result<Evaluated> found = dimensions_.find(name, Type::kInteger);
    // A failed dimension was reported when it was evaluated.
    if (!found.ok() || found->is_null()) return harmless;
    const int64_t value = std::get<int64_t>(found->value);
    if (value >= least && value <= most) return value;
    problem(text(name) + " must be from " + std::to_string(least) + " to " + std::to_string(most));
    return harmless;
  }

  bool boolean(const Expr& expression) {
    const std::optional<Evaluated> found = value(expression, Type::kBoolean, false);
    return found && std::get<bool>(found->value);
  }

  // A number that is greater than 0, or at least 0.
  double positive(const Expr& expression) { return number(expression, false).value_or(1); }
  double not_negative(const Expr& expression) { return number(expression, true).value_or(0); }

  // A number that is greater than 0, or 0 too; nullopt = null, or after a problem.
  std::optional<double> number(const Expr& expression, bool zero, bool nullable = false) {
    const std::optional<Evaluated> found = value(expression, Type::kNumber, nullable);
    if (!found) return std::nullopt;
    const double number = std::get<double>(found->value);
    const float single = static_cast<float>(number);
    if ((single > 0 || (zero && number == 0)) && std::isfinite(single)) return number;
    problem(expression.place() + ": is " + number_text(number) + dimensions_.origin(*found) +
            ", and must be " + (zero ? "0 or " : "") + "greater than 0 and fit a 32-bit float");
    return std::nullopt;
  }

  // The enumerator of a word.
  template <typename T>
  T word(const config::Word& word) {
    const std::optional<Evaluated> found = value(word.expr, Type::kText, false);
    if (!found) return T{};
    const std::string& text = std::get<std::string>(found->value);
    std::string allowed;
    for (const config::Choice& choice : word.choices) {
      if (choice.name == text) return static_cast<T>(choice.value);
      allowed += (allowed.empty() ? "" : ", ") + std::string(choice.name);
    }
    problem(word.expr.place() + ": is " + utf8::printable(text) + dimensions_.origin(*found) +
            ", and must be one of " + allowed);
    return T{};
  }

  // The elements of a list; nullopt = null, or after a problem.
  template <typename T>
  std::optional<std::vector<T>> list(const Expr& expression, Type type, bool nullable) {
    const std::optional<Evaluated> found = value(expression, type, nullable);
    if (!found) return std::nullopt;
    std::vector<T> items;
    for (const config::Scalar& item : std::get<std::vector<config::Scalar>>(found->value)) {
      items.push_back(std::get<T>(item));
    }
    return items;
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

void read_counts(const config::Architecture& architecture, Reader* reader, ModelSpec* spec) {
  spec->hidden = reader->count("hidden", 1);
  spec->vocabulary = reader->count("vocabulary", kLargestCount);
  spec->max_tokens = reader->count("max_tokens", 1);
  spec->heads = reader->count("heads", 0);
  spec->kv_heads = reader->count("kv_heads", 1);
  spec->head_dim = reader->count("head_dim", kLargestHead, 1, kLargestHead);
  if (spec->heads % spec->kv_heads != 0) {
    reader->problem(reader->text("heads") + " is no multiple of " + reader->text("kv_heads"));
  }
  spec->value_dim = spec->head_dim;
  if (architecture.attention.kind == config::AttentionKind::kMla) {
    spec->attention = AttentionKind::kMla;
    spec->value_dim = reader->count("value_dim", 1);
    spec->latent = reader->count("latent", 1);
    spec->q_latent = reader->count("q_latent", 0);
  }
}

void read_expert_counts(Reader* reader, ModelSpec* spec) {
  spec->dense_inner = reader->count("dense_inner", 0, 0);
  // A document that has no dense layers describes no model without experts.
  spec->experts = reader->count("experts", 0, reader->is_given("dense_inner") ? 0 : 1);
  if (spec->experts == 0) return;
  spec->top_k = reader->count("top_k", 1);
  spec->expert_inner = reader->count("expert_inner", 1);
  spec->shared_inner = reader->count("shared_inner", 0, 0);
  if (spec->top_k > spec->experts) {
    reader->problem(reader->text("top_k") + " is more than " + reader->text("experts"));
  }
}

void read_rope(const config::Architecture::Rope& rope, Reader* reader, ModelSpec* spec,
               RopeScalingSpec* scaling) {
  spec->rope.style = reader->word<config::RopeStyle>(rope.style) == config::RopeStyle::kHalf
                         ? COLIBRI_ROPE_HALF
                         : COLIBRI_ROPE_INTERLEAVED;
  spec->rope.theta = reader->positive(rope.theta);
  // Of a latent's head a part must be left that is not rotated.
  const int64_t most = spec->head_dim - (spec->attention == AttentionKind::kMla ? 1 : 0);
  spec->rope.dims = reader->integer(rope.dims, false, 2, most).value_or(2);
  if (spec->rope.dims % 2 != 0) {
    reader->problem(rope.dims.place() + ": is " + std::to_string(spec->rope.dims) +
                    ", and must be even, because elements are rotated in pairs; " +
                    reader->text("head_dim"));
  }
  scaling->kind = reader->word<config::RopeScaling>(rope.scaling);
  if (scaling->kind == config::RopeScaling::kNone) return;
  scaling->factor = reader->positive(rope.factor);
  scaling->original_tokens = reader->positive(rope.original_tokens);
  scaling->low_freq_factor = reader->positive(rope.low_freq_factor);
  scaling->high_freq_factor = reader->positive(rope.high_freq_factor);
  scaling->beta_fast = reader->positive(rope.beta_fast);
  scaling->beta_slow = reader->positive(rope.beta_slow);
  scaling->truncate = reader->boolean(rope.truncate);
  scaling->attention_factor = reader->number(rope.attention_factor, false, true);
  scaling->mscale = reader->number(rope.mscale, true, true);
  scaling->mscale_all = reader->number(rope.mscale_all, true, true);
  if (scaling->kind == config::RopeScaling::kLlama3 &&
      scaling->low_freq_factor >= scaling->high_freq_factor) {
    reader->problem(rope.low_freq_factor.place() + ": is " + number_text(scaling->low_freq_factor) +
                    ", and must be less than high_freq_factor, " +
                    number_text(scaling->high_freq_factor));
  }
  if (scaling->kind == config::RopeScaling::kYarn && spec->rope.theta == 1) {
    reader->problem(rope.theta.place() + ": is 1, with which yarn has no frequencies to scale");
  }
}

void read_attention(const config::Architecture::Attention& attention,
                    const RopeScalingSpec& scaling, Reader* reader, ModelSpec* spec) {
  spec->qk_norm = static_cast<QkNorm>(reader->word<config::QkNorm>(attention.qk_norm));
  double scale = attention.scale ? reader->positive(*attention.scale)
                                 : 1 / std::sqrt(static_cast<double>(spec->head_dim));
  const double mscale = reader->not_negative(attention.mscale);
  if (mscale > 0 && scaling.kind == config::RopeScaling::kYarn) {
    const double factor = yarn_magnitude(scaling.factor, mscale);
    scale *= factor * factor;
  }
  spec->attention_scale = static_cast<float>(scale);
  spec->attention_clamp =
      static_cast<float>(reader->number(attention.clamp, false, true).value_or(0));
  if (spec->attention == AttentionKind::kMla && spec->attention_clamp > 0) {
    reader->problem(attention.clamp.place() + ": is not offered with the attention `mla`");
  }
}

void read_router(const config::Architecture::Router& router, Reader* reader, ModelSpec* spec) {
  if (spec->experts == 0) return;
  spec->router.score =
      reader->word<config::RouterScore>(router.score) == config::RouterScore::kSoftmax
          ? COLIBRI_SCORE_SOFTMAX
          : COLIBRI_SCORE_SIGMOID;
  spec->router.renormalize = reader->boolean(router.renormalize);
  spec->router.scale = static_cast<float>(reader->positive(router.scale));
  const int64_t groups = reader->integer(router.groups.count, false, 0, spec->experts).value_or(0);
  if (groups <= 1) return;
  spec->router.groups = groups;
  spec->router.keep_groups = reader->integer(router.groups.keep, false, 1, groups).value_or(1);
  const auto rule = reader->word<config::GroupRule>(router.groups.rule);
  const auto mask = reader->word<config::GroupMask>(router.groups.mask);
  spec->router.group_rule =
      rule == config::GroupRule::kMax ? COLIBRI_GROUP_RULE_MAX : COLIBRI_GROUP_RULE_TOP2_SUM;
  spec->router.group_mask = mask == config::GroupMask::kZero ? COLIBRI_GROUP_MASK_ZERO
                                                             : COLIBRI_GROUP_MASK_NEGATIVE_INFINITY;
  const int64_t size = spec->experts / groups;
  const std::string count = router.groups.count.place() + ": is " + std::to_string(groups);
  if (spec->experts % groups != 0) {
    reader->problem(count + ", and " + reader->text("experts") + " is no multiple of it");
  } else if (rule == config::GroupRule::kTop2Sum && size < 2) {
    reader->problem(count + ", which leaves one expert in a group, and the rule wants two");
  } else if (spec->router.keep_groups * size < spec->top_k) {
    reader->problem(router.groups.keep.place() + ": the groups that are kept have " +
                    std::to_string(spec->router.keep_groups * size) + " experts, fewer than " +
                    reader->text("top_k"));
  }
}

// Whether a layer has no experts.
struct DenseLayers {
  int64_t first = 0, every = 1;
  std::vector<int64_t> list;  // ascending

  bool contain(int64_t layer) const {
    return layer < first || (layer + 1) % every != 0 ||
           std::binary_search(list.begin(), list.end(), layer);
  }
};

void make_layers(const config::Architecture& architecture, int64_t count, Reader* reader,
                 ModelSpec* spec) {
  const config::Architecture::Layers& layers = architecture.layers;
  DenseLayers dense;
  dense.first = reader->integer(layers.first_dense, false, 0, kLargestCount).value_or(0);
  dense.every = reader->integer(layers.moe_every, false, 1, kLargestCount).value_or(1);
  dense.list =
      reader->list<int64_t>(layers.dense, Type::kIntegers, false).value_or(std::vector<int64_t>());
  std::sort(dense.list.begin(), dense.list.end());
  const config::Architecture::Attention& attention = architecture.attention;
  const int64_t window = reader->integer(attention.window, true, 1, kLargestCount).value_or(0);
  const int64_t from = reader->integer(attention.window_from, false, 0, kLargestCount).value_or(0);
  const std::vector<bool> windowed =
      reader->list<bool>(attention.window_layers, Type::kBooleans, true)
          .value_or(std::vector<bool>{true});
  if (windowed.empty()) {
    reader->problem(attention.window_layers.place() + ": is an empty list");
    return;
  }
  for (int64_t l = 0; l < count; ++l) {
    LayerSpec& layer = spec->layers.emplace_back();
    if (l >= from && windowed[static_cast<size_t>(l) % windowed.size()]) layer.window = window;
    if (spec->experts == 0 || dense.contain(l)) {
      layer.dense.inner = spec->dense_inner;
    } else {
      layer.experts.resize(static_cast<size_t>(spec->experts));
      for (FfnSpec& expert : layer.experts) expert.inner = spec->expert_inner;
      layer.shared.inner = spec->shared_inner;
    }
  }
  const bool any_dense = std::any_of(spec->layers.begin(), spec->layers.end(),
                                     [](const LayerSpec& layer) { return !layer.routed(); });
  if (any_dense && spec->dense_inner == 0) {
    reader->problem("there are layers without experts, and " +
                    (reader->is_given("dense_inner") ? reader->text("dense_inner")
                                                     : "the document names no tensors of `dense`"));
  }
}

}  // namespace

void read_hyperparameters(const config::Architecture& architecture, const Dimensions& dimensions,
                          size_t tensors, ModelSpec* spec, Problems* problems) {
  Reader reader(dimensions, problems);
  spec->architecture = architecture.name;
  const int64_t layers = reader.count("layers", 1);
  read_counts(architecture, &reader, spec);
  read_expert_counts(&reader, spec);
  spec->eps = static_cast<float>(reader.positive(architecture.norm.eps));
  spec->latent_eps = static_cast<float>(
      reader.number(architecture.norm.latent_eps, false, true).value_or(spec->eps));
  spec->embedding_scale = static_cast<float>(reader.positive(architecture.embedding.scale));
  spec->residual_scale = static_cast<float>(reader.positive(architecture.residual_scale));
  spec->logits_scale = static_cast<float>(reader.positive(architecture.logits.scale));
  RopeScalingSpec scaling;
  read_rope(architecture.rope, &reader, spec, &scaling);
  read_attention(architecture.attention, scaling, &reader, spec);
  spec->ffn_clamp = static_cast<float>(reader.not_negative(architecture.ffn.clamp));
  spec->ffn_alpha = static_cast<float>(reader.not_negative(architecture.ffn.alpha));
  spec->ffn_up_offset = static_cast<float>(reader.not_negative(architecture.ffn.up_offset));
  read_router(architecture.router, &reader, spec);
  if (layers > static_cast<int64_t>(tensors)) {
    reader.problem(reader.text("layers") + " is more than the number of tensors, " +
                   std::to_string(tensors));
  } else if (layers * spec->experts > kMostExperts) {
    reader.problem(reader.text("layers") + " times " + reader.text("experts") +
                   " is more than this runtime handles, " + std::to_string(kMostExperts));
  }
  if (!problems->empty()) return;  // what follows takes time and memory
  compute_frequencies(scaling, &spec->rope);
  make_layers(architecture, layers, &reader, spec);
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
