// SPDX-License-Identifier: Apache-2.0
// deterministic numerics: a row's bytes do not depend on the rows beside it.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/conformance/kernel.h"
#include "tests/conformance/kernel_conformance.h"
#include "tests/conformance/kv_cache_memory.h"
#include "tests/conformance/questions.h"
#include "tests/cuda_shim/on_cpu.h"

namespace colibri::cuda {
namespace {

using conformance::Kernel;
using conformance::Question;
using conformance::Random;
using conformance::Rows;
using conformance::Style;

Kernel created(const Question& question) {
  static const colibri_kernels_0 table = table_on_cpu();
  static const colibri_host host = conformance::bare_host();
  auto kernel = Kernel::create(table, host, question);
  EXPECT_TRUE(kernel.ok()) << kernel.status().text();
  return std::move(*kernel);
}

void run_one(const Kernel& kernel, const void* arguments) {
  const Status status = kernel.run(arguments, conformance::Schedule::kOneRange);
  EXPECT_TRUE(status.ok()) << status.text();
}

std::vector<uint8_t> bytes_of(const Rows& rows, int64_t row) {
  const uint8_t* at = rows.memory().data() + row * rows.tensor().stride[0];
  return {at, at + rows.tensor().stride[0]};
}

colibri_tensor one_row(const Rows& rows, int64_t row) {
  colibri_tensor one = rows.tensor();
  one.shape[0] = 1;
  one.offset += static_cast<uint64_t>(row * one.stride[0]);
  return one;
}

// Of `rows` rows of one group: all together, and each alone.
void check_product(uint32_t codec, int64_t rows, int64_t cols) {
  SCOPED_TRACE(std::string(conformance::codec_name(codec)) + ", " + std::to_string(rows) + " rows");
  Random random(7);
  const bool prepared = has_integer_product(codec);
  Question question;
  question.op = COLIBRI_OP_GROUPED_MATMUL;
  colibri_grouped_matmul_attributes attributes = {};
  attributes.input_dtype = prepared ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  attributes.output_dtype = COLIBRI_CODEC_F32;
  question.set_attributes(attributes);
  question.weights = {conformance::weight_description(codec, 40, cols)};
  question.sources = {conformance::make_weight(random, codec, 40, cols)};
  question.max_rows = rows;
  const Kernel kernel = created(question);

  const Rows plain(conformance::make_rows(random, Style::kPlain, rows, cols), cols);
  const Rows input(attributes.input_dtype, rows, cols);
  if (prepared) {
    Question quantize;
    quantize.op = COLIBRI_OP_QUANTIZE_ROWS;
    quantize.set_attributes(colibri_quantize_rows_attributes{0, COLIBRI_CODEC_Q8_32});
    quantize.max_rows = rows;
    auto call = conformance::arguments<colibri_quantize_rows_args>();
    call.input = plain.tensor();
    call.output = input.tensor();
    run_one(created(quantize), &call);
  }
  const Rows& given = prepared ? input : plain;
  const Rows together(COLIBRI_CODEC_F32, rows, 40);
  const Rows alone(COLIBRI_CODEC_F32, rows, 40);
  auto call = conformance::arguments<colibri_grouped_matmul_args>();
  call.weights_per_group = 1;
  call.groups = 1;
  call.weight = kernel.weights().data();
  const int64_t all[] = {0, rows};
  call.group_begin = all;
  call.input = given.tensor();
  call.output = together.tensor();
  run_one(kernel, &call);
  const int64_t one[] = {0, 1};
  call.group_begin = one;
  for (int64_t row = 0; row < rows; ++row) {
    call.input = one_row(given, row);
    call.output = one_row(alone, row);
    run_one(kernel, &call);
    EXPECT_EQ(bytes_of(together, row), bytes_of(alone, row)) << "row " << row;
  }
}

TEST(InvarianceTest, ProductsAloneAndTogether) {
  for (const uint32_t codec : {COLIBRI_CODEC_F32, COLIBRI_CODEC_F16, COLIBRI_CODEC_BF16,
                               COLIBRI_CODEC_Q8_0, COLIBRI_CODEC_Q4_0}) {
    check_product(codec, 11, 96);
  }
  check_product(COLIBRI_CODEC_Q4_K, 11, 512);
}

TEST(InvarianceTest, AttentionAloneAndTogether) {
  constexpr int64_t kHeads = 4, kKvHeads = 2, kDim = 40, kKeys = 2600, kRows = 20;
  Random random(3);
  Question question;
  question.op = COLIBRI_OP_ATTENTION;
  colibri_attention_attributes attributes = {};
  attributes.cache_dtype = COLIBRI_CODEC_F16;
  attributes.heads = kHeads;
  attributes.kv_heads = kKvHeads;
  attributes.head_dim = kDim;
  attributes.scale = 0.25f;
  question.set_attributes(attributes);
  question.max_rows = kRows;
  const Kernel kernel = created(question);
  const int64_t blocks = (kKeys + 15) / 16;
  // Any bits will do that are small f16 numbers.
  const auto cache = [&](int64_t width) {
    std::vector<uint16_t> numbers(static_cast<size_t>(kKvHeads * blocks * width * 16));
    for (uint16_t& bits : numbers) bits = static_cast<uint16_t>(0x3000 | (random.next() & 0x87FF));
    return numbers;
  };
  std::vector<uint16_t> keys = cache(kDim), values = cache(48);
  const auto tensor = [&](std::vector<uint16_t>& numbers, int64_t width) {
    colibri_tensor made = {};
    made.struct_size = sizeof(made);
    made.dtype = COLIBRI_CODEC_F16;
    made.rank = 4;
    const int64_t shape[] = {kKvHeads, blocks, width, 16};
    std::copy_n(shape, 4, made.shape);
    made.buffer = numbers.data();
    return made;
  };
  const colibri_tensor k_cache = tensor(keys, kDim), v_cache = tensor(values, 48);
  const Rows q(conformance::make_rows(random, Style::kPlain, kRows, kHeads * kDim), kHeads * kDim);
  std::vector<int32_t> position(kRows);
  for (int64_t row = 0; row < kRows; ++row)
    position[row] = static_cast<int32_t>(row == 0 ? 0 : random.below(kKeys));
  const Rows together(COLIBRI_CODEC_F32, kRows, kHeads * kDim);
  const Rows alone(COLIBRI_CODEC_F32, kRows, kHeads * kDim);
  auto call = conformance::arguments<colibri_attention_args>();
  call.q = q.tensor();
  call.output = together.tensor();
  call.position = position.data();
  call.k_cache = &k_cache;
  call.v_cache = &v_cache;
  run_one(kernel, &call);  // more than 16 rows: a block does all parts of a query
  for (int64_t row = 0; row < kRows; ++row) {
    call.q = one_row(q, row);
    call.output = one_row(alone, row);
    call.position = &position[row];
    run_one(kernel, &call);  // a block for each part
    EXPECT_EQ(bytes_of(together, row), bytes_of(alone, row)) << "row " << row;
  }
}

}  // namespace
}  // namespace colibri::cuda
