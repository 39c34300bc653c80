// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

void check_one(Checker& checker, Random& random, Style style, uint32_t output_dtype, int64_t rows,
               int64_t cols) {
  Question question;
  question.op = COLIBRI_OP_NORM;
  question.name = std::string("rms to ") + codec_name(output_dtype) + ", " +
                  shape_text(rows, cols) + ", " + style_name(style);
  question.set_attributes(colibri_norm_attributes{0, COLIBRI_NORM_RMS, 1e-5f, output_dtype});
  colibri_tensor weight = weight_description(COLIBRI_CODEC_F32, 1, cols);
  weight.rank = 1;
  weight.shape[0] = cols;
  weight.stride[0] = 4;
  question.weights = {weight};
  question.max_rows = rows;
  question.sources = {
      make_weight(random, rows == 1 ? COLIBRI_CODEC_BF16 : COLIBRI_CODEC_F32, 1, cols)};
  const Rows input(make_rows(random, style, rows, cols), cols, 4);
  checker.check(question, [&](const std::vector<colibri_tensor>& weights, const RunCall& run) {
    auto call = arguments<colibri_norm_args>();
    const Rows output(output_dtype, rows, cols, 64);
    call.weight = weights[0];
    call.input = input.tensor();
    call.output = output.tensor();
    run(&call);
    return std::vector<Output>{{"output", output}};
  });
}

}  // namespace

void check_norm(Checker& checker) {
  Random random(2);
  for (Style style : {Style::kPlain, Style::kExtreme, Style::kNotFinite}) {
    for (int64_t cols : {1, 5, 15, 16, 17, 20, 31, 32, 64, 100, 320}) {
      for (int64_t rows : {0, 1, 3}) {
        check_one(checker, random, style, COLIBRI_CODEC_F32, rows, cols);
        if (cols % 32 == 0) check_one(checker, random, style, COLIBRI_CODEC_Q8_32, rows, cols);
      }
    }
  }
}

}  // namespace colibri::conformance
