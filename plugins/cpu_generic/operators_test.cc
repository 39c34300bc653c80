// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_generic/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "plugins/cpu_generic/test_matrix.h"

namespace colibri::cpu_generic {
namespace {

using conformance::Question;
using conformance::Random;
using conformance::Rows;
using conformance::Schedule;
using conformance::Style;

TEST(Embed, IsTheRowTimesTheScale) {
  Random random(1);
  for (uint32_t codec : {COLIBRI_CODEC_F32, COLIBRI_CODEC_F16, COLIBRI_CODEC_BF16,
                         COLIBRI_CODEC_Q8_0, COLIBRI_CODEC_Q4_0}) {
    Question question;
    question.op = COLIBRI_OP_EMBED;
    question.set_attributes(colibri_embed_attributes{0, 4.0f});
    question.weights = {conformance::matrix(codec, 11, 64, nullptr)};
    question.sources = {conformance::make_weight(random, codec, 11, 64)};
    auto kernel = reference_kernel(question);
    ASSERT_TRUE(kernel.ok()) << kernel.status().text();
    int32_t ids[] = {10, 0, 7};
    const Rows output(COLIBRI_CODEC_F32, 3, 64);
    colibri_embed_args call = {sizeof(call), kernel->weights()[0],
                               conformance::matrix(COLIBRI_CODEC_I32, 3, 1, ids), output.tensor()};
    call.ids.rank = 1;
    ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t i = 0; i < 64; ++i)
        EXPECT_EQ(number_at(output, row, i), 4 * stored_weight(question.sources[0], ids[row], i));
    }
  }
}

TEST(Norm, IsRootMeanSquare) {
  Random random(2);
  int clamped = 0, kept = 0;
  for (int64_t cols : {1, 20, 96, 1000}) {
    const double limit = cols == 20 || cols == 1000 ? 0.25 : 0;  // exact as f32
    Question question;
    question.op = COLIBRI_OP_NORM;
    question.set_attributes(colibri_norm_attributes{0, COLIBRI_NORM_RMS, 1e-5f, COLIBRI_CODEC_F32,
                                                    static_cast<float>(limit)});
    colibri_tensor weight = conformance::matrix(COLIBRI_CODEC_F32, cols, 1, nullptr);
    weight.rank = 1;
    question.weights = {weight};
    question.sources = {conformance::make_weight(random, COLIBRI_CODEC_BF16, 1, cols)};
    auto kernel = reference_kernel(question);
    ASSERT_TRUE(kernel.ok()) << kernel.status().text();
    const Rows input(conformance::make_rows(random, Style::kPlain, 2, cols), cols);
    const Rows output(COLIBRI_CODEC_F32, 2, cols);
    const colibri_norm_args call = {sizeof(call), kernel->weights()[0], input.tensor(),
                                    output.tensor()};
    ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
    for (int64_t row = 0; row < 2; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < cols; ++i) sum += number_at(input, row, i) * number_at(input, row, i);
      const double scale =
          1 / std::sqrt(sum / static_cast<double>(cols) + static_cast<double>(1e-5f));
      for (int64_t i = 0; i < cols; ++i) {
        double want = number_at(input, row, i) * scale * stored_weight(question.sources[0], 0, i);
        if (limit > 0) {
          ++(std::fabs(want) > limit ? clamped : kept);
          want = std::clamp(want, -limit, limit);
        }
        EXPECT_NEAR(number_at(output, row, i), want, 1e-6 * std::fabs(want) + 1e-44) << cols;
      }
    }
  }
  EXPECT_GT(clamped, 100);
  EXPECT_GT(kept, 100);
}

TEST(QuantizeRows, IsWithinHalfAStepAndSumsItself) {
  Random random(3);
  std::vector<float> numbers = conformance::make_rows(random, Style::kPlain, 4, 64);
  std::fill_n(numbers.begin() + 64, 32, 0.0f);
  std::fill_n(numbers.begin() + 96, 32, 1e-38f);  // a subnormal scale counts as 0
  numbers[2 * 64 + 5] = std::numeric_limits<float>::infinity();
  const Rows input(numbers, 64);
  const Rows output(COLIBRI_CODEC_Q8_32, 4, 64);
  Question question;
  question.op = COLIBRI_OP_QUANTIZE_ROWS;
  question.set_attributes(colibri_quantize_rows_attributes{0, COLIBRI_CODEC_Q8_32});
  auto kernel = reference_kernel(question);
  ASSERT_TRUE(kernel.ok()) << kernel.status().text();
  const colibri_quantize_rows_args call = {sizeof(call), input.tensor(), output.tensor()};
  ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
  for (int64_t row = 0; row < 4; ++row) {
    const uint8_t* bytes = output.memory().data() + row * output.tensor().stride[0];
    for (int64_t block = 0; block < 2; ++block) {
      const float scale = read_number<float>(bytes + 64 + block * 4);
      int sum[2] = {};
      for (int64_t i = block * 32; i < block * 32 + 32; ++i) {
        sum[i % 32 / 16] += read_number<int8_t>(bytes + i);
        if (row != 2 || block != 0) {
          EXPECT_NEAR(prepared_at(output, row, i), number_at(input, row, i),
                      0.5001 * static_cast<double>(scale) + 2e-36);
        }
      }
      EXPECT_EQ(read_number<int16_t>(bytes + 72 + block * 4), sum[0]);
      EXPECT_EQ(read_number<int16_t>(bytes + 72 + block * 4 + 2), sum[1]);
      EXPECT_EQ(std::isnan(scale), row == 2 && block == 0);
      if (row == 1) {
        EXPECT_EQ(scale, 0);
      }
    }
  }
}

TEST(Rope, TurnsPairs) {
  for (uint32_t style : {COLIBRI_ROPE_HALF, COLIBRI_ROPE_INTERLEAVED}) {
    Random random(4);
    const std::vector<float> numbers = conformance::make_rows(random, Style::kPlain, 2, 2 * 10);
    const Rows x(numbers, 20);
    std::vector<float> cosine;
    std::vector<float> sine;
    for (int position = 0; position < 3; ++position) {
      for (int i = 0; i < 3; ++i) {
        cosine.push_back(static_cast<float>(std::cos(position * (i + 1))));
        sine.push_back(static_cast<float>(std::sin(position * (i + 1))));
      }
    }
    Question question;
    question.op = COLIBRI_OP_ROPE;
    question.set_attributes(colibri_rope_attributes{0, style, 2, 10, 6, 0});
    auto kernel = reference_kernel(question);
    ASSERT_TRUE(kernel.ok()) << kernel.status().text();
    const int32_t position[] = {2, 0};
    const colibri_rope_args call = {sizeof(call), x.tensor(), position, cosine.data(), sine.data()};
    ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
    for (int64_t row = 0; row < 2; ++row) {
      for (int64_t head = 0; head < 2; ++head) {
        const auto before = [&](int64_t i) {
          return static_cast<double>(numbers[static_cast<size_t>(row * 20 + head * 10 + i)]);
        };
        for (int64_t i = 0; i < 3; ++i) {
          const int64_t a = style == COLIBRI_ROPE_HALF ? i : 2 * i;
          const int64_t b = style == COLIBRI_ROPE_HALF ? i + 3 : 2 * i + 1;
          const double angle = static_cast<double>(position[row] * (i + 1));
          EXPECT_NEAR(number_at(x, row, head * 10 + a),
                      before(a) * std::cos(angle) - before(b) * std::sin(angle), 1e-6);
          EXPECT_NEAR(number_at(x, row, head * 10 + b),
                      before(b) * std::cos(angle) + before(a) * std::sin(angle), 1e-6);
        }
        for (int64_t i = 6; i < 10; ++i) EXPECT_EQ(number_at(x, row, head * 10 + i), before(i));
      }
    }
  }
}

TEST(Router, IsSoftmaxOfTheTopK) {
  for (uint32_t renormalize : {0, 1}) {
    Random random(5);
    Question question;
    question.op = COLIBRI_OP_ROUTER;
    colibri_router_attributes attributes = {};
    attributes.score = COLIBRI_SCORE_SOFTMAX;
    attributes.top_k = 3;
    attributes.renormalize = renormalize;
    question.set_attributes(attributes);
    question.weights = {conformance::matrix(COLIBRI_CODEC_F32, 20, 48, nullptr)};
    question.sources = {conformance::make_weight(random, COLIBRI_CODEC_F32, 20, 48)};
    auto kernel = reference_kernel(question);
    ASSERT_TRUE(kernel.ok()) << kernel.status().text();
    const Rows input(conformance::make_rows(random, Style::kPlain, 6, 48), 48);
    const Rows expert(COLIBRI_CODEC_I32, 6, 3);
    const Rows score(COLIBRI_CODEC_F32, 6, 3);
    const colibri_router_args call = {sizeof(call),    kernel->weights()[0], input.tensor(),
                                      expert.tensor(), score.tensor(),       nullptr,
                                      nullptr};
    ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
    for (int64_t row = 0; row < 6; ++row) {
      std::vector<double> e(20);
      for (int64_t i = 0; i < 20; ++i) {
        double logit = 0;
        for (int64_t k = 0; k < 48; ++k)
          logit += number_at(input, row, k) * stored_weight(question.sources[0], i, k);
        e[static_cast<size_t>(i)] = std::exp(logit);
      }
      std::vector<size_t> order(20);
      std::iota(order.begin(), order.end(), size_t{0});
      std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return e[a] > e[b]; });
      const double sum = renormalize == 1 ? e[order[0]] + e[order[1]] + e[order[2]]
                                          : std::accumulate(e.begin(), e.end(), 0.0);
      for (int64_t slot = 0; slot < 3; ++slot) {
        const size_t want = order[static_cast<size_t>(slot)];
        EXPECT_EQ(read_number<int32_t>(expert.memory().data() + row * 12 + slot * 4),
                  static_cast<int32_t>(want));
        EXPECT_NEAR(number_at(score, row, slot), e[want] / sum, 1e-6);
      }
    }
  }
}

TEST(Combine, AddsWeightedRowsToTheResidual) {
  Random random(6);
  const Rows residual(conformance::make_rows(random, Style::kPlain, 2, 20), 20);
  const Rows added(conformance::make_rows(random, Style::kPlain, 3, 20), 20);
  const Rows output(COLIBRI_CODEC_F32, 2, 20);
  const int32_t row_index[] = {2, 1, 0, 0};
  const float weight[] = {0.25f, 0.5f, -1.5f, 3.0f};
  Question question;
  question.op = COLIBRI_OP_COMBINE;
  question.set_attributes(colibri_combine_attributes{0, 2, 0.5f});
  auto kernel = reference_kernel(question);
  ASSERT_TRUE(kernel.ok()) << kernel.status().text();
  const colibri_combine_args call = {sizeof(call), residual.tensor(), added.tensor(), row_index,
                                     weight,       output.tensor()};
  ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
  for (int64_t row = 0; row < 2; ++row) {
    for (int64_t i = 0; i < 20; ++i) {
      double want = number_at(residual, row, i);
      for (int64_t slot = 2 * row; slot < 2 * row + 2; ++slot) {
        want += 0.5 * static_cast<double>(weight[slot]) * number_at(added, row_index[slot], i);
      }
      EXPECT_NEAR(number_at(output, row, i), want, 1e-6);
    }
  }
}

}  // namespace
}  // namespace colibri::cpu_generic
