// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

enum class Place {
  kApart,
  kInPlace,
  kParts  // input and output are a part of each row of something wider
};

// The view of columns [begin, begin + cols) of each row.
colibri_tensor part_of(const Rows& rows, int64_t begin, int64_t cols) {
  colibri_tensor part = rows.tensor();
  part.offset += static_cast<uint64_t>(begin) * 4;
  part.shape[1] = cols;
  return part;
}

void check_one(Checker& checker, Random& random, Style style, uint32_t output_dtype, int64_t rows,
               int64_t cols, Place place = Place::kApart, float clamp = 0) {
  Question question;
  question.op = COLIBRI_OP_NORM;
  question.name = std::string("rms to ") + codec_name(output_dtype) + ", " +
                  shape_text(rows, cols) +
                  (place == Place::kInPlace ? ", in place, "
                   : place == Place::kParts ? ", parts of rows, "
                                            : ", ") +
                  (clamp == 0 ? "" : "clamp " + std::to_string(clamp) + ", ") + style_name(style);
  question.set_attributes(colibri_norm_attributes{0, COLIBRI_NORM_RMS, 1e-5f, output_dtype, clamp});
  colibri_tensor weight = weight_description(COLIBRI_CODEC_F32, 1, cols);
  weight.rank = 1;
  weight.shape[0] = cols;
  weight.stride[0] = 4;
  question.weights = {weight};
  question.max_rows = rows;
  question.sources = {
      make_weight(random, rows == 1 ? COLIBRI_CODEC_BF16 : COLIBRI_CODEC_F32, 1, cols)};
  const int64_t wider = place == Place::kParts ? 7 : 0;
  const std::vector<float> numbers = make_rows(random, style, rows, cols + wider);
  checker.check(question, [&](const std::vector<colibri_tensor>& weights, const RunCall& run) {
    auto call = arguments<colibri_norm_args>();
    const Rows input(numbers, cols + wider, 4);
    const Rows output(output_dtype, rows, output_dtype == COLIBRI_CODEC_F32 ? cols + wider : cols,
                      64);
    call.weight = weights[0];
    call.input = part_of(input, wider / 2, cols);
    call.output = place == Place::kInPlace            ? call.input
                  : output_dtype == COLIBRI_CODEC_F32 ? part_of(output, wider, cols)
                                                      : output.tensor();
    run(&call);
    return std::vector<Output>{{"input", input}, {"output", output}};
  });
}

}  // namespace

void check_norm(Checker& checker) {
  Random random(2);
  for (Style style : {Style::kPlain, Style::kExtreme, Style::kNotFinite}) {
    for (int64_t cols : {1, 5, 15, 16, 17, 20, 31, 32, 64, 100, 320}) {
      for (int64_t rows : {0, 1, 3}) {
        check_one(checker, random, style, COLIBRI_CODEC_F32, rows, cols);
        check_one(checker, random, style, COLIBRI_CODEC_F32, rows, cols, Place::kInPlace);
        check_one(checker, random, style, COLIBRI_CODEC_F32, rows, cols, Place::kParts);
        if (cols % 32 == 0) check_one(checker, random, style, COLIBRI_CODEC_Q8_32, rows, cols);
        if (rows != 1) continue;
        check_one(checker, random, style, COLIBRI_CODEC_F32, rows, cols, Place::kInPlace, 0.5f);
        if (cols % 32 == 0)
          check_one(checker, random, style, COLIBRI_CODEC_Q8_32, rows, cols, Place::kApart, 0.5f);
      }
    }
  }
}

}  // namespace colibri::conformance
