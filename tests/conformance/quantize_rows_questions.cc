// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {

void check_quantize_rows(Checker& checker) {
  Random random(3);
  for (Style style : {Style::kPlain, Style::kExtreme, Style::kNotFinite}) {
    for (int64_t cols : {32, 64, 416}) {
      for (int64_t rows : {0, 1, 13}) {
        Question question;
        question.op = COLIBRI_OP_QUANTIZE_ROWS;
        question.name = shape_text(rows, cols) + ", " + style_name(style);
        question.set_attributes(colibri_quantize_rows_attributes{0, COLIBRI_CODEC_Q8_32});
        question.max_rows = rows;
        std::vector<float> numbers = make_rows(random, style, rows, cols);
        if (rows > 1) {  // one row of each magnitude, down to the subnormal scales
          float factor = 1;
          for (int64_t row = 1; row < rows; ++row, factor *= 1e-4f) {
            for (int64_t i = 0; i < cols; ++i)
              numbers[static_cast<size_t>(row * cols + i)] *= factor;
          }
        }
        const Rows input(numbers, cols, 8);
        checker.check(question, [&](const std::vector<colibri_tensor>&, const RunCall& run) {
          auto call = arguments<colibri_quantize_rows_args>();
          const Rows output(COLIBRI_CODEC_Q8_32, rows, cols, 64);
          call.input = input.tensor();
          call.output = output.tensor();
          run(&call);
          return std::vector<Output>{{"output", output}};
        });
      }
    }
  }
}

}  // namespace colibri::conformance
