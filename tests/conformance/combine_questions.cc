// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

struct Form {
  bool in_place, weighted, indexed;
  float scale;
};

void check_one(Checker& checker, Random& random, uint32_t slots, int64_t rows, int64_t cols,
               const Form& form, Style style) {
  Question question;
  question.op = COLIBRI_OP_COMBINE;
  question.name = std::to_string(slots) + " slots, " + shape_text(rows, cols) +
                  (form.in_place ? ", in place" : "") + (form.weighted ? ", weighted" : "") +
                  (form.indexed ? ", indexed, " : ", ") + style_name(style);
  question.set_attributes(colibri_combine_attributes{0, slots, form.scale});
  question.max_rows = rows;
  const int64_t added_rows = form.indexed ? 3 : rows * slots;
  const std::vector<float> residual = make_rows(random, Style::kPlain, rows, cols);
  const Rows added(make_rows(random, style, added_rows, cols), cols, 4);
  const std::vector<float> weight = make_rows(random, Style::kPlain, rows, slots);
  std::vector<int32_t> row_index;
  for (int64_t i = 0; i < rows * slots; ++i)
    row_index.push_back(static_cast<int32_t>(random.below(added_rows)));
  checker.check(question, [&](const std::vector<colibri_tensor>&, const RunCall& run) {
    auto call = arguments<colibri_combine_args>();
    const Rows from(residual, cols, 8);
    const Rows output(COLIBRI_CODEC_F32, rows, cols, 12);
    call.residual = from.tensor();
    call.row = added.tensor();
    call.row_index = form.indexed ? row_index.data() : nullptr;
    call.weight = form.weighted ? weight.data() : nullptr;
    call.output = form.in_place ? from.tensor() : output.tensor();
    run(&call);
    return std::vector<Output>{{"residual", from}, {"output", output}};
  });
}

}  // namespace

void check_combine(Checker& checker) {
  Random random(9);
  for (uint32_t slots : {1, 2, 5, 8}) {
    for (int64_t cols : {1, 7, 16, 100}) {
      for (int64_t rows : {0, 1, 3}) {
        check_one(checker, random, slots, rows, cols, {false, true, true, 1}, Style::kPlain);
        check_one(checker, random, slots, rows, cols, {true, false, false, 0.22f}, Style::kExtreme);
        check_one(checker, random, slots, rows, cols, {true, true, false, 1}, Style::kNotFinite);
      }
    }
  }
}

}  // namespace colibri::conformance
