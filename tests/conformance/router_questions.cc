// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

struct Routing {
  int64_t experts;
  uint32_t top_k;
  uint32_t renormalize = 0;
  uint32_t score = COLIBRI_SCORE_SOFTMAX;
  bool bias = false, select_bias = false;
  uint32_t groups = 0, keep_groups = 0, group_rule = 0, group_mask = 0;
  float scale = 0;
  bool logits = false;  // the input is the logits
};

constexpr int64_t kCols = 33;

std::string name_of(const Routing& r, uint32_t codec, int64_t rows, Style style) {
  std::string name = std::string(codec_name(codec)) + " " + shape_text(r.experts, kCols) +
                     (r.score == COLIBRI_SCORE_SIGMOID ? ", sigmoid" : "") + ", top " +
                     std::to_string(r.top_k) + (r.renormalize == 1 ? " renormalised" : "");
  name += r.bias ? ", bias" : "";
  name += r.select_bias ? ", select bias" : "";
  if (r.groups != 0) {
    name += ", " + std::to_string(r.keep_groups) + " of " + std::to_string(r.groups) + " groups";
    name += r.group_rule == COLIBRI_GROUP_RULE_MAX ? " by max" : " by top2_sum";
    name += r.group_mask == COLIBRI_GROUP_MASK_ZERO ? ", others zero" : ", others -inf";
  }
  if (r.logits) name += ", from logits";
  if (r.scale != 0) name += ", scale " + std::to_string(r.scale);
  return name + ", " + std::to_string(rows) + " rows, " + style_name(style);
}

colibri_router_attributes attributes_of(const Routing& r) {
  colibri_router_attributes attributes = {};
  attributes.score = r.score;
  attributes.top_k = r.top_k;
  attributes.renormalize = r.renormalize;
  attributes.bias = r.bias ? 1 : 0;
  attributes.select_bias = r.select_bias ? 1 : 0;
  attributes.groups = r.groups;
  attributes.keep_groups = r.keep_groups;
  attributes.group_rule = r.group_rule;
  attributes.group_mask = r.group_mask;
  attributes.scale = r.scale;
  attributes.experts = r.logits ? static_cast<uint32_t>(r.experts) : 0;
  return attributes;
}

// Experts of which some are equal, so that there are ties, and one may have NaN for all rows.
SourceMatrix make_experts(Random& random, uint32_t codec, int64_t experts, Style style) {
  SourceMatrix weight = make_weight(random, codec, experts, kCols);
  for (int64_t e = 2; e < experts; e += 3) {
    std::memcpy(weight.bytes.data() + e * weight.stride,
                weight.bytes.data() + (e - 2) * weight.stride, static_cast<size_t>(weight.stride));
  }
  if (style == Style::kNotFinite) {
    std::memset(weight.bytes.data() + experts / 2 * weight.stride, 0xFF,
                static_cast<size_t>(weight.stride));
  }
  return weight;
}

// A bias that keeps the ties of equal experts: one in three has another one.
std::vector<float> make_bias(Random& random, Style style, int64_t experts) {
  std::vector<float> bias = make_rows(random, style, 1, experts);
  for (size_t e = 2; e < bias.size(); e += 3) bias[e] = bias[e - 2];
  return bias;
}

void check_one(Checker& checker, Random& random, uint32_t codec, const Routing& r, int64_t rows,
               Style style) {
  Question question;
  question.op = COLIBRI_OP_ROUTER;
  question.name = name_of(r, codec, rows, style);
  question.set_attributes(attributes_of(r));
  question.max_rows = rows;
  if (!r.logits) {
    question.weights = {weight_description(codec, r.experts, kCols)};
    question.sources = {make_experts(random, codec, r.experts, style)};
  }
  const int64_t cols = r.logits ? r.experts : kCols;
  const Rows input(make_rows(random, style, rows, cols), cols, 4);
  const std::vector<float> bias = make_bias(random, Style::kPlain, r.experts);
  const std::vector<float> select_bias =
      make_bias(random, style == Style::kNotFinite ? Style::kNotFinite : Style::kPlain, r.experts);
  checker.check(question, [&](const std::vector<colibri_tensor>& weights, const RunCall& run) {
    auto call = arguments<colibri_router_args>();
    const Rows expert(COLIBRI_CODEC_I32, rows, r.top_k, 4);
    const Rows score(COLIBRI_CODEC_F32, rows, r.top_k, 8);
    if (!r.logits) call.weight = weights[0];
    call.input = input.tensor();
    call.expert = expert.tensor();
    call.score = score.tensor();
    call.bias = r.bias ? bias.data() : nullptr;
    call.select_bias = r.select_bias ? select_bias.data() : nullptr;
    run(&call);
    return std::vector<Output>{{"expert", expert}, {"score", score}};
  });
}

// Logits as the input, alone and with every option.
void check_logits(Checker& checker, Random& random) {
  const Routing choices[] = {
      {1, 1},
      {21, 4, 1, COLIBRI_SCORE_SOFTMAX, true},
      {128, 8, 1},
      {128, 8},
      {32, 8, 1, COLIBRI_SCORE_SIGMOID, true, true, 4, 2, COLIBRI_GROUP_RULE_TOP2_SUM,
       COLIBRI_GROUP_MASK_ZERO, 2.5f},
  };
  for (Routing r : choices) {
    r.logits = true;
    check_one(checker, random, COLIBRI_CODEC_F32, r, 1, Style::kPlain);
    check_one(checker, random, COLIBRI_CODEC_F32, r, 7, Style::kNotFinite);
    check_one(checker, random, COLIBRI_CODEC_F32, r, 6, Style::kExtreme);
  }
}

// Every option on its own and all together.
void check_options(Checker& checker, Random& random, uint32_t codec) {
  constexpr uint32_t kSoftmax = COLIBRI_SCORE_SOFTMAX;
  constexpr uint32_t kSigmoid = COLIBRI_SCORE_SIGMOID;
  constexpr uint32_t kMax = COLIBRI_GROUP_RULE_MAX;
  constexpr uint32_t kTop2 = COLIBRI_GROUP_RULE_TOP2_SUM;
  constexpr uint32_t kInfinite = COLIBRI_GROUP_MASK_NEGATIVE_INFINITY;
  constexpr uint32_t kZero = COLIBRI_GROUP_MASK_ZERO;
  const Routing options[] = {
      {21, 4, 1, kSoftmax, true},
      {21, 4, 0, kSoftmax, true, false, 0, 0, 0, 0, 2.5f},
      {21, 20, 1, kSigmoid},
      {8, 3, 0, kSigmoid, true},
      {60, 18, 1, kSigmoid, false, true, 0, 0, 0, 0, 2.5f},
      {21, 4, 0, kSoftmax, false, true},
      {21, 4, 1, kSoftmax, true, true},
      {24, 6, 0, kSoftmax, false, false, 8, 3, kMax, kZero, 16},
      {24, 9, 1, kSoftmax, false, false, 8, 3, kMax, kInfinite},
      {32, 8, 1, kSigmoid, false, true, 4, 2, kTop2, kZero, 2.5f},
      {32, 8, 1, kSigmoid, false, true, 4, 2, kTop2, kInfinite, 2.5f},
      {40, 17, 1, kSigmoid, true, true, 5, 4, kTop2, kZero},
      {7, 2, 0, kSigmoid, false, false, 7, 2, kMax, kInfinite},
      {16, 5, 1, kSoftmax, false, true, 1, 1, kTop2, kZero},
  };
  for (const Routing& r : options) {
    check_one(checker, random, codec, r, 5, Style::kPlain);
    check_one(checker, random, codec, r, 7, Style::kNotFinite);
    check_one(checker, random, codec, r, 6, Style::kExtreme);
  }
}

}  // namespace

void check_router(Checker& checker) {
  Random random(8);
  for (uint32_t codec : kFloatCodecs) {
    for (int64_t experts : {1, 3, 8, 16, 60, 128}) {
      for (uint32_t top_k : {1, 2, 3, 5, 8, 60}) {
        if (top_k > experts || (checker.quick() && experts + top_k > 70)) continue;
        for (uint32_t renormalize : {0, 1}) {
          const Routing r = {experts, top_k, renormalize};
          check_one(checker, random, codec, r, 1, Style::kPlain);
          check_one(checker, random, codec, r, 5, Style::kNotFinite);
          if (!checker.quick()) check_one(checker, random, codec, r, 6, Style::kExtreme);
        }
      }
    }
    check_one(checker, random, codec, {8, 2, 1}, 0, Style::kPlain);
    if (!checker.quick() || codec == COLIBRI_CODEC_F32) check_options(checker, random, codec);
  }
  check_logits(checker, random);
}

}  // namespace colibri::conformance
