// SPDX-License-Identifier: Apache-2.0
// Descriptions and arguments that make no sense: each is a refusal with its reason, never a wild
// read.
#include "plugins/cpu_common/frontend.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "plugins/cpu_generic/kernel_table.h"
#include "tests/conformance/kernel.h"
#include "tests/conformance/kernel_conformance.h"
#include "tests/conformance/kv_cache_memory.h"

namespace colibri::cpu {
namespace {

using conformance::Kernel;
using conformance::KvCacheMemory;
using conformance::Question;
using conformance::Random;
using conformance::Rows;

const colibri_kernels_0& table() {
  return cpu_generic::kKernelTable;
}

template <typename Attributes>
std::string refusal(uint32_t op, Attributes attributes,
                    const std::vector<colibri_tensor>& weights) {
  attributes.struct_size = sizeof(attributes);
  colibri_op_desc desc = {};
  desc.struct_size = sizeof(desc);
  desc.op = op;
  desc.attributes = &attributes;
  desc.weights = weights.data();
  desc.weight_count = static_cast<uint32_t>(weights.size());
  char why_not[128] = "";
  const bool yes = table().supports(&desc, why_not) != 0;
  EXPECT_EQ(yes, why_not[0] == '\0');
  return why_not;
}

colibri_tensor weight(uint32_t codec, int64_t rows, int64_t cols) {
  return conformance::matrix(codec, rows, cols, nullptr);
}

colibri_grouped_matmul_attributes matmul(uint32_t epilogue, uint32_t activation, uint32_t input,
                                         uint32_t output) {
  colibri_grouped_matmul_attributes attributes = {};
  attributes.epilogue = epilogue;
  attributes.activation = activation;
  attributes.input_dtype = input;
  attributes.output_dtype = output;
  return attributes;
}

colibri_attention_attributes attention(uint32_t cache_dtype, int64_t heads, int64_t kv_heads,
                                       int64_t head_dim) {
  return {0, cache_dtype, heads, kv_heads, head_dim, 0, 1.0f, 0};
}

colibri_router_attributes router(uint32_t score, uint32_t top_k) {
  colibri_router_attributes attributes = {};
  attributes.score = score;
  attributes.top_k = top_k;
  attributes.renormalize = 1;
  return attributes;
}

TEST(Description, MatmulRefusals) {
  constexpr uint32_t kF32 = COLIBRI_CODEC_F32;
  constexpr uint32_t kQ8 = COLIBRI_CODEC_Q8_32;
  const auto ask = [](const colibri_grouped_matmul_attributes& attributes,
                      const std::vector<colibri_tensor>& weights) {
    return refusal(COLIBRI_OP_GROUPED_MATMUL, attributes, weights);
  };
  const colibri_tensor q4 = weight(COLIBRI_CODEC_Q4_0, 8, 64);
  const colibri_tensor bf16 = weight(COLIBRI_CODEC_BF16, 8, 40);
  EXPECT_EQ(ask(matmul(0, 0, kQ8, kF32), {q4}), "");
  EXPECT_EQ(ask(matmul(0, 0, kF32, kF32), {bf16}), "");
  EXPECT_EQ(ask(matmul(0, 0, kQ8, kF32), {weight(COLIBRI_CODEC_Q4_0, 8, 40)}),
            "q4_0 needs columns that are a multiple of 32, got 40");
  EXPECT_EQ(ask(matmul(0, 0, kF32, kF32), {q4}), "q4_0 weights need q8_32 rows as input");
  EXPECT_EQ(ask(matmul(0, 0, kQ8, kF32), {bf16}), "bf16 weights need f32 rows as input");
  EXPECT_EQ(ask(matmul(0, 1, kQ8, kF32), {q4}), "silu needs the gated epilogue");
  EXPECT_EQ(ask(matmul(1, 1, kQ8, kF32), {q4}), "needs 2 weights, got 1");
  EXPECT_EQ(ask(matmul(1, 1, kQ8, kF32), {q4, weight(COLIBRI_CODEC_Q4_0, 16, 64)}),
            "the weights must have the same codec and shape");
  EXPECT_EQ(ask(matmul(1, 1, kQ8, kQ8), {q4, q4}),
            "a q8_32 output needs rows that are a multiple of 32, got 8");
  EXPECT_EQ(ask(matmul(0, 0, kQ8, kQ8), {q4}), "a q8_32 output needs the gated epilogue");
  EXPECT_EQ(ask(matmul(2, 0, kQ8, kF32), {q4}), "epilogue 2 is not offered (0 = none, 1 = gated)");
  EXPECT_EQ(ask(matmul(1, 9, kQ8, kF32), {q4, q4}),
            "activation 9 is not offered (0 = none, 1 = silu, 2 = sigmoid)");
  EXPECT_EQ(ask(matmul(0, 0, kF32, kF32), {weight(COLIBRI_CODEC_I8, 8, 64)}),
            "weights of codec 5 are not offered");
  EXPECT_EQ(ask(matmul(0, 0, kQ8, kF32), {weight(COLIBRI_CODEC_Q8_0, 0, 64)}),
            "a weight's rows must be from 1 to 2147483647, got 0");
  colibri_tensor foreign = q4;
  foreign.layout = COLIBRI_LAYOUT_PRIVATE + 3;
  EXPECT_EQ(ask(matmul(0, 0, kQ8, kF32), {foreign}),
            "needs a weight in layout 1, got layout 65539");
}

TEST(Description, OtherRefusals) {
  EXPECT_EQ(refusal(COLIBRI_OP_ATTENTION, attention(COLIBRI_CODEC_F16, 5, 2, 64), {}),
            "heads must be a multiple of kv_heads, got 5 and 2");
  EXPECT_EQ(refusal(COLIBRI_OP_ATTENTION, attention(COLIBRI_CODEC_BF16, 4, 2, 64), {}),
            "the cache must be f32, f16 or q8_0");
  EXPECT_EQ(
      refusal(COLIBRI_OP_ROPE, colibri_rope_attributes{0, COLIBRI_ROPE_HALF, 4, 64, 33, 0}, {}),
      "rope dims must be even, got 33");
  EXPECT_EQ(
      refusal(COLIBRI_OP_ROPE, colibri_rope_attributes{0, COLIBRI_ROPE_HALF, 4, 64, 66, 0}, {}),
      "rope dims must be from 0 to 64, got 66");
  const std::vector<colibri_tensor> router_weight = {weight(COLIBRI_CODEC_F32, 8, 64)};
  EXPECT_EQ(refusal(COLIBRI_OP_ROUTER, router(COLIBRI_SCORE_SOFTMAX, 9), router_weight),
            "top_k must be from 1 to 8, got 9");
  EXPECT_EQ(refusal(COLIBRI_OP_ROUTER, router(9, 2), router_weight),
            "router score 9 is not offered (1 = softmax, 2 = sigmoid)");
  auto from_logits = router(COLIBRI_SCORE_SOFTMAX, 4);
  from_logits.experts = 3;
  EXPECT_EQ(refusal(COLIBRI_OP_ROUTER, from_logits, router_weight), "needs 0 weights, got 1");
  EXPECT_EQ(refusal(COLIBRI_OP_ROUTER, from_logits, {}), "top_k must be from 1 to 3, got 4");
  EXPECT_EQ(refusal(COLIBRI_OP_COMBINE, colibri_combine_attributes{0, 0, 1.0f}, {}),
            "slots must be from 1 to 2147483647, got 0");
  EXPECT_EQ(refusal(77, colibri_combine_attributes{0, 1, 1.0f}, {}),
            "operator 77 is unknown to this plugin");
}

TEST(Description, AnAttributeNewerThanThePluginIsRefused) {
  struct Newer {
    uint32_t struct_size;
    uint32_t slots;
    float scale;
    uint32_t from_the_future;
  };
  EXPECT_EQ(refusal(COLIBRI_OP_COMBINE, Newer{0, 1, 1.0f, 0}, {}), "");
  EXPECT_EQ(refusal(COLIBRI_OP_COMBINE, Newer{0, 1, 1.0f, 5}, {}),
            "an attribute at byte 12 is newer than this plugin");
}

TEST(OpCreate, NeedsPackedWeightsAndTheHostsMath) {
  colibri_embed_attributes attributes = {sizeof(attributes), 1.0f};
  colibri_tensor table_weight = weight(COLIBRI_CODEC_F32, 8, 4);
  colibri_op_desc desc = {sizeof(desc), COLIBRI_OP_EMBED, &attributes, &table_weight, 1, 1};
  const colibri_host host = conformance::bare_host();
  colibri_op_info info = {sizeof(info), 0, 0};
  colibri_error error = empty_error();
  EXPECT_EQ(table().op_create(&desc, &host, nullptr, &info, &error), COLIBRI_UNSUPPORTED);
  EXPECT_STREQ(error.text, "needs a weight in layout 1, got layout 0");
  table_weight.layout = COLIBRI_LAYOUT_R8;
  EXPECT_EQ(table().op_create(&desc, nullptr, nullptr, &info, &error), COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(table().op_create(&desc, &host, nullptr, nullptr, nullptr), COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(table().op_create(&desc, &host, nullptr, &info, &error), COLIBRI_OK);
}

// An embed operator of 8 rows and its call.
TEST(OpRun, RowsOutsideOfATensorAreErrors) {
  Random random(1);
  Question question;
  question.op = COLIBRI_OP_EMBED;
  question.set_attributes(colibri_embed_attributes{0, 1.0f});
  question.weights = {weight(COLIBRI_CODEC_F32, 8, 4)};
  question.sources = {conformance::make_weight(random, COLIBRI_CODEC_F32, 8, 4)};
  const colibri_host host = conformance::bare_host();
  auto kernel = Kernel::create(table(), host, question);
  ASSERT_TRUE(kernel.ok()) << kernel.status().text();
  const Rows output(COLIBRI_CODEC_F32, 1, 4);
  int32_t id = 0;
  colibri_embed_args call = {sizeof(call), kernel->weights()[0],
                             conformance::matrix(COLIBRI_CODEC_I32, 1, 1, &id), output.tensor()};
  call.ids.rank = 1;
  const auto code = [&] { return kernel->run(&call, conformance::Schedule::kOneRange).code(); };
  EXPECT_EQ(code(), COLIBRI_OK);
  for (int32_t bad : {-1, 8, INT32_MAX, INT32_MIN}) {
    id = bad;
    EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT) << bad;
  }
  id = 0;
  call.output.shape[1] = 5;
  EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT);
  call.output.shape[1] = 4;
  call.table.layout = COLIBRI_LAYOUT_ROWS;
  EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT);
  call.table = kernel->weights()[0];
  call.struct_size = 8;
  EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT);
}

TEST(OpRun, PositionsOutsideOfTheCacheAreErrors) {
  const KvCacheMemory cache(COLIBRI_CODEC_F16, 1, 2, 1, 8);
  const Rows rows(COLIBRI_CODEC_F32, 1, 16);
  const colibri_host host = conformance::bare_host();
  Question write;
  write.op = COLIBRI_OP_KV_WRITE;
  write.set_attributes(colibri_kv_write_attributes{0, COLIBRI_CODEC_F16, 2, 8, 0});
  auto writer = Kernel::create(table(), host, write);
  Question read;
  read.op = COLIBRI_OP_ATTENTION;
  read.set_attributes(attention(COLIBRI_CODEC_F16, 2, 2, 8));
  auto reader = Kernel::create(table(), host, read);
  ASSERT_TRUE(writer.ok() && reader.ok());
  const Rows output(COLIBRI_CODEC_F32, 1, 16);
  int32_t position = 0;
  colibri_kv_write_args write_call = {
      sizeof(write_call), rows.tensor(), rows.tensor(), &position, nullptr, cache.k(), cache.v()};
  colibri_attention_args read_call = {sizeof(read_call), rows.tensor(), output.tensor(), &position,
                                      nullptr,           cache.k(),     cache.v(),       nullptr};
  for (int32_t at : {0, 15, 16, -1, INT32_MAX}) {
    position = at;
    const colibri_status want = at == 0 || at == 15 ? COLIBRI_OK : COLIBRI_INVALID_ARGUMENT;
    EXPECT_EQ(writer->run(&write_call, conformance::Schedule::kOneRange).code(), want) << at;
    EXPECT_EQ(reader->run(&read_call, conformance::Schedule::kOneRange).code(), want) << at;
  }
}

TEST(OpRun, GroupsMustAscendAndIndicesMustLieInside) {
  Random random(2);
  Question question;
  question.op = COLIBRI_OP_GROUPED_MATMUL;
  question.set_attributes(matmul(0, 0, COLIBRI_CODEC_F32, COLIBRI_CODEC_F32));
  question.weights = {weight(COLIBRI_CODEC_F32, 8, 4)};
  question.sources = {conformance::make_weight(random, COLIBRI_CODEC_F32, 8, 4)};
  const colibri_host host = conformance::bare_host();
  auto kernel = Kernel::create(table(), host, question);
  ASSERT_TRUE(kernel.ok()) << kernel.status().text();
  const Rows input(conformance::make_rows(random, conformance::Style::kPlain, 2, 4), 4);
  const Rows output(COLIBRI_CODEC_F32, 2, 8);
  int64_t group_begin[] = {0, 2};
  int32_t row_index[] = {1, 0};
  colibri_grouped_matmul_args call = {sizeof(call),
                                      1,
                                      1,
                                      group_begin,
                                      row_index,
                                      kernel->weights().data(),
                                      input.tensor(),
                                      output.tensor(),
                                      nullptr,
                                      nullptr};
  const auto code = [&] { return kernel->run(&call, conformance::Schedule::kOneRange).code(); };
  EXPECT_EQ(code(), COLIBRI_OK);
  row_index[1] = 2;
  EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT);
  row_index[1] = -1;
  EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT);
  row_index[1] = 0;
  group_begin[1] = 3;  // more rows than the output has
  EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT);
  group_begin[0] = 2;
  group_begin[1] = 1;
  EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT);
  group_begin[0] = -1;
  EXPECT_EQ(code(), COLIBRI_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace colibri::cpu
