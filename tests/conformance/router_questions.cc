// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

void check_one(Checker& checker, Random& random, uint32_t codec, int64_t experts, uint32_t top_k,
               uint32_t renormalize, int64_t rows, Style style) {
  const int64_t cols = 33;
  Question question;
  question.op = COLIBRI_OP_ROUTER;
  question.name = std::string(codec_name(codec)) + " " + shape_text(experts, cols) + ", top " +
                  std::to_string(top_k) + (renormalize == 1 ? " renormalised, " : ", ") +
                  std::to_string(rows) + " rows, " + style_name(style);
  colibri_router_attributes attributes = {};
  attributes.score = COLIBRI_SCORE_SOFTMAX;
  attributes.top_k = top_k;
  attributes.renormalize = renormalize;
  question.set_attributes(attributes);
  question.weights = {weight_description(codec, experts, cols)};
  question.max_rows = rows;
  SourceMatrix weight = make_weight(random, codec, experts, cols);
  for (int64_t e = 2; e < experts; e += 3) {  // equal experts: ties
    std::memcpy(weight.bytes.data() + e * weight.stride,
                weight.bytes.data() + (e - 2) * weight.stride, static_cast<size_t>(weight.stride));
  }
  if (style == Style::kNotFinite) {  // one expert's logits are NaN
    std::memset(weight.bytes.data() + experts / 2 * weight.stride, 0xFF,
                static_cast<size_t>(weight.stride));
  }
  question.sources = {weight};
  const Rows input(make_rows(random, style, rows, cols), cols, 4);
  checker.check(question, [&](const std::vector<colibri_tensor>& weights, const RunCall& run) {
    auto call = arguments<colibri_router_args>();
    const Rows expert(COLIBRI_CODEC_I32, rows, top_k, 4);
    const Rows score(COLIBRI_CODEC_F32, rows, top_k, 8);
    call.weight = weights[0];
    call.input = input.tensor();
    call.expert = expert.tensor();
    call.score = score.tensor();
    run(&call);
    return std::vector<Output>{{"expert", expert}, {"score", score}};
  });
}

}  // namespace

void check_router(Checker& checker) {
  Random random(8);
  for (uint32_t codec : kFloatCodecs) {
    for (int64_t experts : {1, 3, 8, 16, 60, 128}) {
      for (uint32_t top_k : {1, 2, 3, 5, 8, 60}) {
        if (top_k > experts || (checker.quick() && experts + top_k > 70)) continue;
        for (uint32_t renormalize : {0, 1}) {
          check_one(checker, random, codec, experts, top_k, renormalize, 1, Style::kPlain);
          check_one(checker, random, codec, experts, top_k, renormalize, 5, Style::kNotFinite);
          if (!checker.quick())
            check_one(checker, random, codec, experts, top_k, renormalize, 6, Style::kExtreme);
        }
      }
    }
    check_one(checker, random, codec, 8, 2, 1, 0, Style::kPlain);
  }
}

}  // namespace colibri::conformance
