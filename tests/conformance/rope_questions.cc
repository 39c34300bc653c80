// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

struct Shape {
  int64_t heads, head_dim, dims, first;
};

}  // namespace

void check_rope(Checker& checker) {
  Random random(5);
  for (const Shape& shape : {Shape{1, 20, 20, 0}, Shape{3, 24, 16, 0}, Shape{2, 64, 64, 0},
                             Shape{4, 128, 2, 0}, Shape{2, 6, 0, 0}, Shape{2, 10, 10, 0},
                             Shape{3, 24, 16, 8}, Shape{2, 21, 6, 11}, Shape{2, 6, 0, 6}}) {
    for (uint32_t style : {COLIBRI_ROPE_HALF, COLIBRI_ROPE_INTERLEAVED}) {
      for (int64_t rows : {0, 1, 5}) {
        constexpr int64_t kPositions = 9;
        const int64_t cols = shape.heads * shape.head_dim;
        Question question;
        question.op = COLIBRI_OP_ROPE;
        question.name = std::string(style == COLIBRI_ROPE_HALF ? "half, " : "interleaved, ") +
                        std::to_string(shape.heads) + " heads of " +
                        std::to_string(shape.head_dim) + ", dims " + std::to_string(shape.dims) +
                        " from " + std::to_string(shape.first) + ", " + std::to_string(rows) +
                        " rows";
        question.set_attributes(colibri_rope_attributes{0, style, shape.heads, shape.head_dim,
                                                        shape.dims, shape.first});
        question.max_rows = rows;
        const std::vector<float> numbers =
            make_rows(random, rows == 1 ? Style::kExtreme : Style::kPlain, rows, cols);
        const std::vector<float> cosine =
            make_rows(random, Style::kPlain, kPositions, shape.dims / 2 + 1);
        const std::vector<float> sine =
            make_rows(random, Style::kPlain, kPositions, shape.dims / 2 + 1);
        std::vector<int32_t> position;
        for (int64_t i = 0; i < rows; ++i)
          position.push_back(static_cast<int32_t>(random.below(kPositions)));
        checker.check(question, [&](const std::vector<colibri_tensor>&, const RunCall& run) {
          auto call = arguments<colibri_rope_args>();
          const Rows x(numbers, cols, 20);
          call.x = x.tensor();
          call.position = position.data();
          call.cosine = cosine.data();
          call.sine = sine.data();
          run(&call);
          return std::vector<Output>{{"x", x}};
        });
      }
    }
  }
}

}  // namespace colibri::conformance
