// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {

namespace {

void check_table(Checker& checker, Random& random, uint32_t codec,
                 const std::vector<int64_t>& widths) {
  for (const int64_t cols : widths) {
    constexpr int64_t kVocabulary = 13;
    for (const std::vector<int32_t>& ids : {std::vector<int32_t>{}, {12}, {0, 7, 8, 12, 12, 3}}) {
      const float scale = ids.size() == 1 ? 1.0f : 2.7f;
      Question question;
      question.op = COLIBRI_OP_EMBED;
      question.name = std::string(codec_name(codec)) + " table " + shape_text(kVocabulary, cols) +
                      ", " + std::to_string(ids.size()) + " rows";
      question.set_attributes(colibri_embed_attributes{0, scale});
      question.weights = {weight_description(codec, kVocabulary, cols)};
      question.max_rows = 6;
      question.sources = {make_weight(random, codec, kVocabulary, cols)};
      checker.check(question, [&](const std::vector<colibri_tensor>& weights, const RunCall& run) {
        auto call = arguments<colibri_embed_args>();
        const auto rows = static_cast<int64_t>(ids.size());
        const Rows output(COLIBRI_CODEC_F32, rows, cols, 12);
        call.table = weights[0];
        call.ids = matrix(COLIBRI_CODEC_I32, rows, 1, const_cast<int32_t*>(ids.data()));
        call.ids.rank = 1;
        call.output = output.tensor();
        run(&call);
        return std::vector<Output>{{"output", output}};
      });
    }
  }
}

}  // namespace

void check_embed(Checker& checker) {
  Random random(1);
  for (const uint32_t codec : weight_codecs()) {
    const int64_t width = is_quantised(codec) ? least_width(codec) : 20;
    check_table(checker, random, codec, {width, 3 * width});
  }
  for (const uint32_t codec : kDecodedCodecs) {
    const int64_t block = codec_facts(codec)->elements;
    check_table(checker, random, codec, {block, 3 * block});
  }
}

}  // namespace colibri::conformance
