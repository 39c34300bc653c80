// SPDX-License-Identifier: Apache-2.0
// What the conformance questions do not reach: more keys, groups and rows than one launch takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "plugins/cpu_generic/kernel_table.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/kernel_conformance.h"
#include "tests/conformance/kv_cache_memory.h"
#include "tests/conformance/questions.h"
#include "tests/cuda_shim/on_cpu.h"

namespace colibri::cuda {
namespace {

using conformance::Question;
using conformance::Random;
using conformance::Rows;
using conformance::Style;

class CudaBytesTest : public testing::Test {
 protected:
  void TearDown() override {
    const conformance::OperatorReport report = checker_.take_report("");
    EXPECT_GT(report.compared, 0);
    EXPECT_EQ(report.unsupported, 0);
    for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  }

  // Rows at these positions of one sequence.
  void check_attention(uint32_t dtype, int64_t heads, int64_t window, bool sinks,
                       const std::vector<int32_t>& position) {
    constexpr int64_t kDim = 40;
    const auto rows = static_cast<int64_t>(position.size());
    Question question;
    question.op = COLIBRI_OP_ATTENTION;
    question.name = std::string(conformance::codec_name(dtype)) + ", window " +
                    std::to_string(window) + ", " + std::to_string(heads) + " heads, " +
                    std::to_string(rows) + " rows";
    colibri_attention_attributes attributes = {};
    attributes.cache_dtype = dtype;
    attributes.heads = heads;
    attributes.kv_heads = 1;
    attributes.head_dim = kDim;
    attributes.window = window;
    attributes.scale = 0.3f;
    attributes.sinks = sinks ? 1 : 0;
    question.set_attributes(attributes);
    question.max_rows = rows;
    const int64_t last = *std::max_element(position.begin(), position.end());
    conformance::KvCacheMemory cache(dtype, 1, 1, last / 16 + 1, kDim);
    cache.fill(random_, last + 1);
    const Rows q(conformance::make_rows(random_, Style::kPlain, rows, heads * kDim), heads * kDim);
    const std::vector<float> sink = conformance::make_rows(random_, Style::kPlain, 1, heads);
    checker_.check(question,
                   [&](const std::vector<colibri_tensor>&, const conformance::RunCall& run) {
                     auto call = conformance::arguments<colibri_attention_args>();
                     const Rows output(COLIBRI_CODEC_F32, rows, heads * kDim);
                     call.q = q.tensor();
                     call.output = output.tensor();
                     call.position = position.data();
                     call.k_cache = cache.k();
                     call.v_cache = cache.v();
                     call.sink = sinks ? sink.data() : nullptr;
                     run(&call);
                     return std::vector<conformance::Output>{{"output", output}};
                   });
  }

  void check_latent_attention(uint32_t dtype, int64_t heads, const std::vector<int32_t>& position) {
    constexpr int64_t kLatent = 40, kRope = 24;
    const auto rows = static_cast<int64_t>(position.size());
    Question question;
    question.op = COLIBRI_OP_MLA_ATTENTION;
    question.name = std::string(conformance::codec_name(dtype)) + ", latent, " +
                    std::to_string(heads) + " heads, " + std::to_string(rows) + " rows";
    colibri_mla_attention_attributes attributes = {};
    attributes.cache_dtype = dtype;
    attributes.heads = heads;
    attributes.latent = kLatent;
    attributes.rope_dims = kRope;
    attributes.scale = 0.3f;
    question.set_attributes(attributes);
    question.max_rows = rows;
    const int64_t last = *std::max_element(position.begin(), position.end());
    conformance::KvCacheMemory cache(dtype, 1, 1, last / 16 + 1, kLatent + kRope);
    cache.fill(random_, last + 1);
    const Rows latent(conformance::make_rows(random_, Style::kPlain, rows * heads, kLatent),
                      kLatent, 8);
    const Rows rope(conformance::make_rows(random_, Style::kPlain, rows * heads, kRope), kRope, 4);
    checker_.check(question,
                   [&](const std::vector<colibri_tensor>&, const conformance::RunCall& run) {
                     auto call = conformance::arguments<colibri_mla_attention_args>();
                     const Rows output(COLIBRI_CODEC_F32, rows * heads, kLatent, 12);
                     call.q_latent = latent.tensor();
                     call.q_rope = rope.tensor();
                     call.output = output.tensor();
                     call.position = position.data();
                     call.cache = cache.k();
                     run(&call);
                     return std::vector<conformance::Output>{{"output", output}};
                   });
  }

  void check_product(uint32_t codec, const std::vector<int64_t>& group_rows) {
    constexpr int64_t kRows = 40, kCols = 64;
    Question question;
    question.op = COLIBRI_OP_GROUPED_MATMUL;
    question.name = std::string(conformance::codec_name(codec)) + ", " +
                    std::to_string(group_rows.size()) + " groups";
    colibri_grouped_matmul_attributes attributes = {};
    const bool prepared = has_integer_product(codec);
    attributes.input_dtype = prepared ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
    attributes.output_dtype = COLIBRI_CODEC_F32;
    question.set_attributes(attributes);
    question.weights = {conformance::weight_description(codec, kRows, kCols)};
    std::vector<int64_t> group_begin = {0};
    for (const int64_t rows : group_rows) {
      question.sources.push_back(conformance::make_weight(random_, codec, kRows, kCols));
      group_begin.push_back(group_begin.back() + rows);
    }
    const int64_t rows = group_begin.back();
    question.max_rows = rows;
    const Rows numbers(conformance::make_rows(random_, Style::kPlain, rows, kCols), kCols);
    const Rows q(COLIBRI_CODEC_Q8_32, rows, kCols, 48);  // rows of 80 bytes at multiples of 64
    for (int64_t i = 0; i < q.tensor().shape[0] * q.tensor().stride[0]; ++i)
      q.memory().data()[i] = static_cast<uint8_t>(random_.below(120));  // small d and sum
    checker_.check(
        question, [&](const std::vector<colibri_tensor>& weights, const conformance::RunCall& run) {
          auto call = conformance::arguments<colibri_grouped_matmul_args>();
          const Rows output(COLIBRI_CODEC_F32, rows, kRows);
          call.weights_per_group = 1;
          call.groups = static_cast<int64_t>(group_rows.size());
          call.group_begin = group_begin.data();
          call.weight = weights.data();
          call.input = prepared ? q.tensor() : numbers.tensor();
          call.output = output.tensor();
          run(&call);
          return std::vector<conformance::Output>{{"output", output}};
        });
  }

  const colibri_kernels_0 table_ = table_on_cpu();
  const colibri_host host_ = conformance::bare_host();
  conformance::Checker checker_{table_, cpu_generic::kKernelTable, host_,
                                conformance::Extent::kQuick};
  Random random_{11};
};

TEST_F(CudaBytesTest, AttentionOverSeveralRoundsOfSplits) {
  const std::vector<int32_t> positions = {9300, 17, 8191, 1023, 8192, 4000};
  for (const uint32_t dtype : conformance::kCacheCodecs) {
    check_attention(dtype, 2, 0, false, {9300});
    check_attention(dtype, 2, 0, true, positions);
    check_attention(dtype, 2, 8600, false, positions);
    check_latent_attention(dtype, 1, positions);
  }
}

TEST_F(CudaBytesTest, AttentionOfMoreQueriesThanHaveBlocksForSplits) {
  std::vector<int32_t> positions(70);
  for (int32_t& each : positions) each = static_cast<int32_t>(random_.below(70));
  positions[7] = 2199;
  positions[69] = 1100;
  check_attention(COLIBRI_CODEC_F16, 8, 0, true, positions);
  check_attention(COLIBRI_CODEC_Q8_0, 8, 1100, false, positions);
  check_latent_attention(COLIBRI_CODEC_F32, 8, positions);
}

TEST_F(CudaBytesTest, ProductsOfMoreTilesThanALaunchTakes) {
  std::vector<int64_t> groups;
  for (int64_t i = 0; i < 150; ++i) groups.push_back(i % 2 == 0 ? 1 + i % 3 : 9 + i % 5);
  groups.insert(groups.end(), {65, 0, 140, 64, 8});
  for (const uint32_t codec : {COLIBRI_CODEC_BF16, COLIBRI_CODEC_Q8_0})
    check_product(codec, groups);
  check_product(COLIBRI_CODEC_Q4_0, std::vector<int64_t>(70, 1));
}

}  // namespace
}  // namespace colibri::cuda
