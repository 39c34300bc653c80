// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "plugins/cpu_generic/test_matrix.h"
#include "runtime/base/decode_row.h"
#include "tests/conformance/questions.h"

namespace colibri::cpu_generic {
namespace {

using conformance::Kernel;
using conformance::Question;
using conformance::Random;
using conformance::Rows;
using conformance::SourceMatrix;
using conformance::Style;

// Rows of x as the products of this codec take them.
Rows prepare(const Rows& x, uint32_t codec) {
  const int64_t rows = x.tensor().shape[0];
  const int64_t cols = x.tensor().shape[1];
  Rows prepared(COLIBRI_CODEC_Q8_32, rows, cols);
  if (!has_integer_product(codec)) return prepared;
  Question question;
  question.op = COLIBRI_OP_QUANTIZE_ROWS;
  question.set_attributes(colibri_quantize_rows_attributes{0, COLIBRI_CODEC_Q8_32});
  auto kernel = reference_kernel(question);
  colibri_quantize_rows_args call = {sizeof(call), x.tensor(), prepared.tensor()};
  EXPECT_TRUE(kernel.ok() && kernel->run(&call, conformance::Schedule::kOneRange).ok());
  return prepared;
}

class GroupedMatmulTest : public testing::TestWithParam<uint32_t> {};

// Three groups, the middle one empty, input rows repeated.
void check_products(uint32_t codec, bool gated) {
  constexpr int64_t kRows = 37;
  const int64_t cols = 3 * conformance::least_width(codec);
  const bool quantised = has_integer_product(codec);
  Random random(codec);
  Question question;
  question.op = COLIBRI_OP_GROUPED_MATMUL;
  colibri_grouped_matmul_attributes attributes = {};
  attributes.epilogue = gated ? COLIBRI_EPILOGUE_GATED : COLIBRI_EPILOGUE_NONE;
  attributes.activation = gated ? COLIBRI_ACTIVATION_SILU : COLIBRI_ACTIVATION_NONE;
  attributes.input_dtype = quantised ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  attributes.output_dtype = COLIBRI_CODEC_F32;
  question.set_attributes(attributes);
  const size_t per_group = gated ? 2 : 1;
  question.weights.assign(per_group, conformance::matrix(codec, kRows, cols, nullptr));
  for (size_t i = 0; i < 3 * per_group; ++i) {
    question.sources.push_back(conformance::make_weight(random, codec, kRows, cols));
  }
  auto kernel = reference_kernel(question);
  ASSERT_TRUE(kernel.ok()) << kernel.status().text();

  const Rows x(conformance::make_rows(random, Style::kPlain, 4, cols), cols);
  const Rows prepared = prepare(x, codec);
  const Rows output(COLIBRI_CODEC_F32, 5, kRows);
  const int64_t group_begin[] = {0, 3, 3, 5};
  const int32_t row_index[] = {2, 0, 2, 3, 1};
  colibri_grouped_matmul_args call = {};
  call.struct_size = sizeof(call);
  call.weights_per_group = static_cast<uint32_t>(per_group);
  call.groups = 3;
  call.group_begin = group_begin;
  call.row_index = row_index;
  call.weight = kernel->weights().data();
  call.input = quantised ? prepared.tensor() : x.tensor();
  call.output = output.tensor();
  ASSERT_TRUE(kernel->run(&call, conformance::Schedule::kOneRange).ok());

  for (int64_t i = 0; i < 5; ++i) {
    const size_t group = i < 3 ? 0 : 2;
    for (int64_t column = 0; column < kRows; ++column) {
      const auto dot = [&](size_t which, double* size) {
        double sum = 0;
        for (int64_t k = 0; k < cols; ++k) {
          const double a =
              quantised ? prepared_at(prepared, row_index[i], k) : number_at(x, row_index[i], k);
          const double product =
              a * stored_weight(question.sources[group * per_group + which], column, k);
          sum += product;
          *size += std::fabs(product);
        }
        return sum;
      };
      double size = 0;
      double want = dot(0, &size);
      if (gated) want = want / (1 + std::exp(-want)) * dot(1, &size);
      EXPECT_NEAR(number_at(output, i, column), want, 1e-6 * (1 + size * size))
          << i << ", " << column;
    }
  }
}

TEST_P(GroupedMatmulTest, IsTheProduct) {
  check_products(GetParam(), false);
}
TEST_P(GroupedMatmulTest, GatedIsSiluOfGateTimesUp) {
  check_products(GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(Codecs, GroupedMatmulTest, testing::ValuesIn(conformance::weight_codecs()),
                         [](const auto& codec) {
                           return std::string(conformance::codec_name(codec.param));
                         });

// Products of some rows with one weight.
std::vector<uint8_t> product_bytes(const SourceMatrix& weight, const Rows& x) {
  Question question;
  question.op = COLIBRI_OP_GROUPED_MATMUL;
  colibri_grouped_matmul_attributes attributes = {};
  attributes.input_dtype = COLIBRI_CODEC_F32;
  attributes.output_dtype = COLIBRI_CODEC_F32;
  question.set_attributes(attributes);
  question.weights = {conformance::matrix(weight.codec, weight.rows, weight.cols, nullptr)};
  question.sources = {weight};
  auto kernel = reference_kernel(question);
  EXPECT_TRUE(kernel.ok()) << kernel.status().text();
  const int64_t rows = x.tensor().shape[0];
  const Rows output(COLIBRI_CODEC_F32, rows, weight.rows);
  const int64_t group_begin[] = {0, rows};
  colibri_grouped_matmul_args call = {};
  call.struct_size = sizeof(call);
  call.weights_per_group = 1;
  call.groups = 1;
  call.group_begin = group_begin;
  call.weight = kernel->weights().data();
  call.input = x.tensor();
  call.output = output.tensor();
  EXPECT_TRUE(kernel->run(&call, conformance::Schedule::kOneRange).ok());
  return conformance::Output("product", output).bytes;
}

TEST(DecodedCodecs, GiveTheBytesOfTheirNumbersAsF32) {
  for (const uint32_t codec : conformance::kDecodedCodecs) {
    Random random(codec);
    const int64_t cols = 2 * codec_facts(codec)->elements;
    const SourceMatrix weight = conformance::make_weight(random, codec, 11, cols);
    SourceMatrix numbers;
    numbers.codec = COLIBRI_CODEC_F32;
    numbers.rows = weight.rows;
    numbers.cols = cols;
    numbers.stride = cols * 4;
    std::vector<float> row(static_cast<size_t>(cols));
    for (int64_t r = 0; r < weight.rows; ++r) {
      ASSERT_TRUE(decode_row(codec, weight.bytes.data() + r * weight.stride, cols, row.data()));
      const auto* bytes = reinterpret_cast<const uint8_t*>(row.data());
      numbers.bytes.insert(numbers.bytes.end(), bytes, bytes + numbers.stride);
    }
    const Rows x(conformance::make_rows(random, Style::kPlain, 3, cols), cols);
    EXPECT_EQ(product_bytes(weight, x), product_bytes(numbers, x))
        << conformance::codec_name(codec);
  }
}

}  // namespace
}  // namespace colibri::cpu_generic
