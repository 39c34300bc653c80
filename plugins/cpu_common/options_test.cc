// SPDX-License-Identifier: Apache-2.0
// Options of operators: values and combinations that make no sense are refused with a reason, and so
// are calls without the lists that an option needs, or with lists that would be ignored.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "plugins/cpu_common/arguments.h"
#include "plugins/cpu_generic/kernel_table.h"
#include "tests/conformance/kernel.h"
#include "tests/conformance/kernel_conformance.h"
#include "tests/conformance/kv_cache_memory.h"

namespace colibri::cpu {
namespace {

using conformance::Kernel;
using conformance::KvCacheMemory;
using conformance::Question;
using conformance::Rows;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Why the reference does not offer an operator with f32 weights of this shape; empty = it does.
template <typename Attributes>
std::string refusal(uint32_t op, Attributes attributes, size_t weights = 0, int64_t rows = 32,
                    int64_t cols = 4) {
  Question question;
  question.op = op;
  question.set_attributes(attributes);
  question.weights.assign(weights, conformance::matrix(COLIBRI_CODEC_F32, rows, cols, nullptr));
  const colibri_op_desc desc = question.desc();
  char why_not[128] = "";
  const bool yes = cpu_generic::kKernelTable.supports(&desc, why_not) != 0;
  EXPECT_EQ(yes, why_not[0] == '\0');
  return why_not;
}

colibri_grouped_matmul_attributes matmul(uint32_t epilogue, uint32_t activation) {
  colibri_grouped_matmul_attributes a = {};
  a.epilogue = epilogue;
  a.activation = activation;
  a.input_dtype = COLIBRI_CODEC_F32;
  a.output_dtype = COLIBRI_CODEC_F32;
  return a;
}

TEST(Options, OfMatmul) {
  const auto ask = [](const colibri_grouped_matmul_attributes& a) {
    return refusal(COLIBRI_OP_GROUPED_MATMUL, a, a.epilogue == COLIBRI_EPILOGUE_GATED ? 2 : 1);
  };
  auto a = matmul(COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_SILU);
  a.bias = 1;
  a.clamp = 7;
  a.alpha = 1.702f;
  a.up_offset = 1;
  EXPECT_EQ(ask(a), "");
  a.bias = 2;
  EXPECT_EQ(ask(a), "bias must be 0 or 1, got 2");
  a.bias = 0;
  for (const float bad : {-1.0f, kInfinity, kNaN}) {
    a.clamp = bad;
    EXPECT_EQ(ask(a), "clamp must be a finite number that is not negative");
    a.clamp = 0;
    a.alpha = bad;
    EXPECT_EQ(ask(a), "alpha must be a finite number that is not negative");
    a.alpha = 0;
  }
  a.up_offset = kNaN;
  EXPECT_EQ(ask(a), "up_offset must be a finite number");

  a = matmul(COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_NONE);
  a.alpha = 2;
  EXPECT_EQ(ask(a), "alpha needs silu");
  a = matmul(COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_SIGMOID);
  EXPECT_EQ(ask(a), "sigmoid is not offered with the gated epilogue");
  a = matmul(COLIBRI_EPILOGUE_NONE, COLIBRI_ACTIVATION_SIGMOID);
  EXPECT_EQ(ask(a), "");
  a.clamp = 7;
  EXPECT_EQ(ask(a), "");
  a.up_offset = 1;
  EXPECT_EQ(ask(a), "alpha and up_offset need the gated epilogue");
}

TEST(Options, OfNorm) {
  colibri_norm_attributes a = {};
  a.kind = COLIBRI_NORM_RMS;
  a.output_dtype = COLIBRI_CODEC_F32;
  a.clamp = 2;
  Question question;
  question.op = COLIBRI_OP_NORM;
  colibri_tensor weight = conformance::matrix(COLIBRI_CODEC_F32, 4, 1, nullptr);
  weight.rank = 1;
  question.weights = {weight};
  const auto ask = [&] {
    question.set_attributes(a);
    const colibri_op_desc desc = question.desc();
    char why_not[128] = "";
    (void)cpu_generic::kKernelTable.supports(&desc, why_not);
    return std::string(why_not);
  };
  EXPECT_EQ(ask(), "");
  for (const float bad : {-1.0f, kInfinity, kNaN}) {
    a.clamp = bad;
    EXPECT_EQ(ask(), "clamp must be a finite number that is not negative");
    a.clamp = 0;
    a.eps = bad;
    EXPECT_EQ(ask(), "eps must be a finite number that is not negative");
    a.eps = 0;
  }
}

colibri_router_attributes grouped_router() {
  colibri_router_attributes a = {};
  a.score = COLIBRI_SCORE_SIGMOID;
  a.top_k = 4;
  a.groups = 8;
  a.keep_groups = 2;
  a.group_rule = COLIBRI_GROUP_RULE_TOP2_SUM;
  a.group_mask = COLIBRI_GROUP_MASK_ZERO;
  return a;
}

TEST(Options, OfTheRouter) {
  const auto ask = [](const colibri_router_attributes& a) {
    return refusal(COLIBRI_OP_ROUTER, a, 1);
  };
  EXPECT_EQ(ask(grouped_router()), "");
  auto a = grouped_router();
  a.bias = 2;
  EXPECT_EQ(ask(a), "bias must be 0 or 1, got 2");
  a = grouped_router();
  a.select_bias = 7;
  EXPECT_EQ(ask(a), "select_bias must be 0 or 1, got 7");
  a = grouped_router();
  a.renormalize = 3;
  EXPECT_EQ(ask(a), "renormalize must be 0 or 1, got 3");
  a = grouped_router();
  a.scale = kInfinity;
  EXPECT_EQ(ask(a), "scale must be a finite number");
  a = grouped_router();
  a.groups = 0;
  EXPECT_EQ(ask(a), "keep_groups, group_rule and group_mask need groups");
  a = grouped_router();
  a.groups = 5;
  EXPECT_EQ(ask(a), "32 experts cannot be cut into 5 equal groups");
  a = grouped_router();
  a.groups = 32;
  EXPECT_EQ(ask(a), "the group rule top2_sum needs groups of two experts or more");
  a = grouped_router();
  a.keep_groups = 9;
  EXPECT_EQ(ask(a), "keep_groups must be from 1 to 8, got 9");
  a = grouped_router();
  a.top_k = 9;
  EXPECT_EQ(ask(a), "top_k with keep_groups must be from 1 to 8, got 9");
  a = grouped_router();
  a.group_rule = 3;
  EXPECT_EQ(ask(a), "group rule 3 is not offered (1 = max, 2 = top2_sum)");
  a = grouped_router();
  a.group_mask = 0;
  EXPECT_EQ(ask(a), "group mask 0 is not offered (1 = -inf, 2 = zero)");
}

TEST(Options, OfAttentionAndItsCache) {
  EXPECT_EQ(refusal(COLIBRI_OP_ATTENTION,
                    colibri_attention_attributes{0, COLIBRI_CODEC_F16, 4, 2, 64, 0, 1.0f, 2}),
            "sinks must be 0 or 1, got 2");
  EXPECT_EQ(
      refusal(COLIBRI_OP_KV_WRITE, colibri_kv_write_attributes{0, COLIBRI_CODEC_F16, 1, 64, 3}),
      "keys_only must be 0 or 1, got 3");
  EXPECT_EQ(refusal(COLIBRI_OP_ROPE, colibri_rope_attributes{0, COLIBRI_ROPE_HALF, 4, 64, 32, 33}),
            "first must be from 0 to 32, got 33");
  const auto latent = [](int64_t heads, int64_t size, int64_t rope_dims, float scale) {
    return refusal(
        COLIBRI_OP_MLA_ATTENTION,
        colibri_mla_attention_attributes{0, COLIBRI_CODEC_F16, heads, size, rope_dims, scale});
  };
  EXPECT_EQ(latent(16, 512, 64, 0.1f), "");
  EXPECT_EQ(latent(0, 512, 64, 0.1f), "heads must be from 1 to 2147483647, got 0");
  EXPECT_EQ(latent(16, 0, 64, 0.1f), "latent must be from 1 to 2147483647, got 0");
  EXPECT_EQ(latent(16, 512, -2, 0.1f), "rope_dims must be from 1 to 2147483647, got -2");
  EXPECT_EQ(latent(16, INT32_MAX, 64, 0.1f),
            "head_dim must be from 1 to 2147483647, got 2147483711");
  EXPECT_EQ(latent(16, 512, 64, kNaN), "scale must be a finite number");
}

// One operator of the reference and the codes of its calls.
class Calls {
 public:
  template <typename Attributes>
  Calls(uint32_t op, Attributes attributes, size_t weights = 0) {
    conformance::Random random(1);
    Question question;
    question.op = op;
    question.set_attributes(attributes);
    for (size_t i = 0; i < weights; ++i) {
      question.weights.push_back(conformance::matrix(COLIBRI_CODEC_F32, 32, 4, nullptr));
      question.sources.push_back(conformance::make_weight(random, COLIBRI_CODEC_F32, 32, 4));
    }
    static const colibri_host host = conformance::bare_host();
    auto made = Kernel::create(cpu_generic::kKernelTable, host, question);
    EXPECT_TRUE(made.ok()) << made.status().text();
    kernel_.emplace_back(std::move(made.value()));
  }
  const colibri_tensor* weights() const { return kernel_[0].weights().data(); }
  template <typename Arguments>
  colibri_status run(const Arguments& call) const {
    return kernel_[0].run(&call, conformance::Schedule::kOneRange).code();
  }

 private:
  std::vector<Kernel> kernel_;  // one
};

TEST(Options, BiasesMustBeThere) {
  auto attributes = matmul(COLIBRI_EPILOGUE_NONE, COLIBRI_ACTIVATION_NONE);
  const Calls plain(COLIBRI_OP_GROUPED_MATMUL, attributes, 1);
  attributes.bias = 1;
  const Calls biased(COLIBRI_OP_GROUPED_MATMUL, attributes, 1);
  const Rows input(std::vector<float>(4, 1.0f), 4);
  const Rows output(COLIBRI_CODEC_F32, 1, 32);
  std::vector<float> numbers(32, 0.5f);
  colibri_tensor bias = conformance::matrix(COLIBRI_CODEC_F32, 32, 1, numbers.data());
  bias.rank = 1;
  const int64_t group_begin[] = {0, 1};
  colibri_grouped_matmul_args call = {};
  call.struct_size = sizeof(call);
  call.weights_per_group = 1;
  call.groups = 1;
  call.group_begin = group_begin;
  call.weight = plain.weights();
  call.input = input.tensor();
  call.output = output.tensor();
  EXPECT_EQ(plain.run(call), COLIBRI_OK);
  EXPECT_EQ(biased.run(call), COLIBRI_INVALID_ARGUMENT);
  call.bias = &bias;
  EXPECT_EQ(biased.run(call), COLIBRI_OK);
  EXPECT_EQ(plain.run(call), COLIBRI_INVALID_ARGUMENT) << "it would be ignored";
  bias.shape[0] = 31;
  EXPECT_EQ(biased.run(call), COLIBRI_INVALID_ARGUMENT);
  bias.shape[0] = 32;
  bias.dtype = COLIBRI_CODEC_F16;
  EXPECT_EQ(biased.run(call), COLIBRI_INVALID_ARGUMENT);
  bias.dtype = COLIBRI_CODEC_F32;
  bias.buffer = nullptr;
  EXPECT_EQ(biased.run(call), COLIBRI_INVALID_ARGUMENT);
}

TEST(Options, OutputRowsMustLieInside) {
  const Calls calls(COLIBRI_OP_GROUPED_MATMUL,
                    matmul(COLIBRI_EPILOGUE_NONE, COLIBRI_ACTIVATION_NONE), 1);
  auto to_q8 = matmul(COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_SILU);
  to_q8.output_dtype = COLIBRI_CODEC_Q8_32;
  const Calls prepared(COLIBRI_OP_GROUPED_MATMUL, to_q8, 2);
  const Rows input(std::vector<float>(8, 1.0f), 4);
  const Rows output(COLIBRI_CODEC_F32, 2, 32);
  const Rows q8(COLIBRI_CODEC_Q8_32, 2, 32);
  const int64_t group_begin[] = {0, 2};
  int32_t output_index[] = {1, 0};
  colibri_grouped_matmul_args call = {};
  call.struct_size = sizeof(call);
  call.weights_per_group = 1;
  call.groups = 1;
  call.group_begin = group_begin;
  call.weight = calls.weights();
  call.input = input.tensor();
  call.output = output.tensor();
  call.output_index = output_index;
  EXPECT_EQ(calls.run(call), COLIBRI_OK);
  for (const int32_t bad : {-1, 2, INT32_MAX}) {
    output_index[1] = bad;
    EXPECT_EQ(calls.run(call), COLIBRI_INVALID_ARGUMENT) << bad;
  }
  output_index[1] = 0;
  call.weights_per_group = 2;
  call.weight = prepared.weights();
  call.output = q8.tensor();
  EXPECT_EQ(prepared.run(call), COLIBRI_INVALID_ARGUMENT) << "q8_32 rows stay in their order";
  call.output_index = nullptr;
  EXPECT_EQ(prepared.run(call), COLIBRI_OK);
}

TEST(Options, RouterListsMustBeThere) {
  auto attributes = grouped_router();
  const Calls plain(COLIBRI_OP_ROUTER, attributes, 1);
  attributes.bias = 1;
  attributes.select_bias = 1;
  const Calls biased(COLIBRI_OP_ROUTER, attributes, 1);
  const Rows input(std::vector<float>(4, 1.0f), 4);
  const Rows expert(COLIBRI_CODEC_I32, 1, 4);
  const Rows score(COLIBRI_CODEC_F32, 1, 4);
  const std::vector<float> numbers(32);
  colibri_router_args call = {};
  call.struct_size = sizeof(call);
  call.weight = plain.weights()[0];
  call.input = input.tensor();
  call.expert = expert.tensor();
  call.score = score.tensor();
  EXPECT_EQ(plain.run(call), COLIBRI_OK);
  EXPECT_EQ(biased.run(call), COLIBRI_INVALID_ARGUMENT);
  call.bias = numbers.data();
  EXPECT_EQ(biased.run(call), COLIBRI_INVALID_ARGUMENT);
  EXPECT_EQ(plain.run(call), COLIBRI_INVALID_ARGUMENT);
  call.select_bias = numbers.data();
  EXPECT_EQ(biased.run(call), COLIBRI_OK);
}

TEST(Options, SinksAndLatentCachesMustFit) {
  const KvCacheMemory cache(COLIBRI_CODEC_F32, 1, 1, 1, 12);
  const Rows q(std::vector<float>(24), 12);  // two heads
  const Rows latent(std::vector<float>(16), 8);
  const Rows rope(std::vector<float>(8), 4);
  const Rows output(COLIBRI_CODEC_F32, 2, 12);
  const Rows latent_output(COLIBRI_CODEC_F32, 2, 8);
  int32_t position[] = {0, 0};
  const float sink = 0;

  const Calls with_sinks(COLIBRI_OP_ATTENTION,
                         colibri_attention_attributes{0, COLIBRI_CODEC_F32, 1, 1, 12, 0, 1.0f, 1});
  colibri_attention_args attention = {sizeof(attention), q.tensor(), output.tensor(), position,
                                      nullptr,           cache.k(),  cache.v(),       nullptr};
  EXPECT_EQ(with_sinks.run(attention), COLIBRI_INVALID_ARGUMENT);
  attention.sink = &sink;
  EXPECT_EQ(with_sinks.run(attention), COLIBRI_OK);

  const Calls keys_only(COLIBRI_OP_KV_WRITE,
                        colibri_kv_write_attributes{0, COLIBRI_CODEC_F32, 1, 12, 1});
  colibri_kv_write_args write = {};
  write.struct_size = sizeof(write);
  write.k = q.tensor();
  write.position = position;
  EXPECT_EQ(keys_only.run(write), COLIBRI_INVALID_ARGUMENT);
  write.k_cache = cache.k();
  EXPECT_EQ(keys_only.run(write), COLIBRI_OK);

  const Calls mla(COLIBRI_OP_MLA_ATTENTION,
                  colibri_mla_attention_attributes{0, COLIBRI_CODEC_F32, 2, 8, 4, 1.0f});
  colibri_mla_attention_args call = {
      sizeof(call), latent.tensor(), rope.tensor(), latent_output.tensor(),
      position,     nullptr,         cache.k()};
  EXPECT_EQ(mla.run(call), COLIBRI_OK);
  for (const int32_t bad : {-1, 16}) {
    position[0] = bad;
    EXPECT_EQ(mla.run(call), COLIBRI_INVALID_ARGUMENT) << bad;
  }
  position[0] = 0;
  const KvCacheMemory narrow(COLIBRI_CODEC_F32, 1, 1, 1, 8);
  call.cache = narrow.k();
  EXPECT_EQ(mla.run(call), COLIBRI_INVALID_ARGUMENT);
  call.cache = nullptr;
  EXPECT_EQ(mla.run(call), COLIBRI_INVALID_ARGUMENT);
  call.cache = cache.k();
  call.q_latent.shape[0] = 1;  // half a row
  call.q_rope.shape[0] = 1;
  call.output.shape[0] = 1;
  EXPECT_EQ(mla.run(call), COLIBRI_INVALID_ARGUMENT);
}

TEST(Arguments, OfAnOlderCallerAreNotReadBeyondTheirEnd) {
  const std::vector<uint32_t> only_a_size = {sizeof(uint32_t)};  // the address sanitizer looks on
  for (uint32_t op = 0; op <= COLIBRI_OP_COUNT; ++op) {
    OperatorState state = {};
    state.op = op;
    EXPECT_FALSE(arguments_fit(state, only_a_size.data())) << op;
  }
}

}  // namespace
}  // namespace colibri::cpu
