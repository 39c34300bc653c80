// SPDX-License-Identifier: Apache-2.0
// The options of operators against the same mathematics in double, written another way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "plugins/cpu_generic/test_matrix.h"
#include "tests/conformance/kv_cache_memory.h"

namespace colibri::cpu_generic {
namespace {

using conformance::KvCacheMemory;
using conformance::Question;
using conformance::Random;
using conformance::Rows;
using conformance::Schedule;
using conformance::Style;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// The products of one row with gate and up, as the operator and as double.
TEST(MatmulOptions, AreTheClampedGateOfBiasedProducts) {
  Random random(1);
  Question question;
  question.op = COLIBRI_OP_GROUPED_MATMUL;
  colibri_grouped_matmul_attributes a = {};
  a.epilogue = COLIBRI_EPILOGUE_GATED;
  a.activation = COLIBRI_ACTIVATION_SILU;
  a.input_dtype = COLIBRI_CODEC_F32;
  a.output_dtype = COLIBRI_CODEC_F32;
  a.bias = 1;
  a.clamp = 0.8f;
  a.alpha = 1.702f;
  a.up_offset = 1;
  question.set_attributes(a);
  for (int i = 0; i < 2; ++i) {
    question.weights.push_back(conformance::matrix(COLIBRI_CODEC_F32, 20, 12, nullptr));
    question.sources.push_back(conformance::make_weight(random, COLIBRI_CODEC_F32, 20, 12));
  }
  auto kernel = reference_kernel(question);
  ASSERT_TRUE(kernel.ok()) << kernel.status().text();
  const Rows input(conformance::make_rows(random, Style::kPlain, 1, 12), 12);
  const Rows bias(conformance::make_rows(random, Style::kPlain, 2, 20), 20);
  const Rows output(COLIBRI_CODEC_F32, 3, 20);
  std::vector<colibri_tensor> biases;
  for (int i = 0; i < 2; ++i) {
    biases.push_back(conformance::matrix(COLIBRI_CODEC_F32, 20, 1, bias.memory().data() + i * 80));
    biases.back().rank = 1;
  }
  const int64_t group_begin[] = {0, 1};
  const int32_t output_index[] = {2};
  const colibri_grouped_matmul_args call = {sizeof(call),
                                            2,
                                            1,
                                            group_begin,
                                            nullptr,
                                            kernel->weights().data(),
                                            input.tensor(),
                                            output.tensor(),
                                            biases.data(),
                                            output_index};
  ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
  int clamped = 0;
  for (int64_t column = 0; column < 20; ++column) {
    double product[2];
    for (int i = 0; i < 2; ++i) {
      product[i] = number_at(bias, i, column);
      for (int64_t k = 0; k < 12; ++k)
        product[i] += number_at(input, 0, k) *
                      stored_weight(question.sources[static_cast<size_t>(i)], column, k);
    }
    const double limit = static_cast<double>(a.clamp);
    clamped += product[0] > limit || std::fabs(product[1]) > limit ? 1 : 0;
    const double gate = std::min(product[0], limit);
    const double up = std::clamp(product[1], -limit, limit);
    const double want = (up + 1) * (gate * sigmoid(gate * static_cast<double>(a.alpha)));
    EXPECT_NEAR(number_at(output, 2, column), want, 1e-5);
  }
  EXPECT_GT(clamped, 3);
  EXPECT_LT(clamped, 17);
}

// DeepSeek-V3's choice, sorted instead of searched.
TEST(RouterOptions, ChooseWithinTheBestGroups) {
  for (const uint32_t rule : {COLIBRI_GROUP_RULE_MAX, COLIBRI_GROUP_RULE_TOP2_SUM}) {
    constexpr size_t kExperts = 24;
    constexpr size_t kGroup = 4;
    Random random(rule);
    Question question;
    question.op = COLIBRI_OP_ROUTER;
    colibri_router_attributes a = {};
    a.score = COLIBRI_SCORE_SIGMOID;
    a.top_k = 5;
    a.renormalize = 1;
    a.bias = 1;
    a.select_bias = 1;
    a.groups = kExperts / kGroup;
    a.keep_groups = 3;
    a.group_rule = rule;
    a.group_mask = COLIBRI_GROUP_MASK_NEGATIVE_INFINITY;
    a.scale = 2.5f;
    question.set_attributes(a);
    question.weights = {conformance::matrix(COLIBRI_CODEC_F32, kExperts, 16, nullptr)};
    question.sources = {conformance::make_weight(random, COLIBRI_CODEC_F32, kExperts, 16)};
    auto kernel = reference_kernel(question);
    ASSERT_TRUE(kernel.ok()) << kernel.status().text();
    const Rows input(conformance::make_rows(random, Style::kPlain, 6, 16), 16);
    const std::vector<float> bias = conformance::make_rows(random, Style::kPlain, 1, kExperts);
    const std::vector<float> select = conformance::make_rows(random, Style::kPlain, 1, kExperts);
    const Rows expert(COLIBRI_CODEC_I32, 6, 5);
    const Rows score(COLIBRI_CODEC_F32, 6, 5);
    const colibri_router_args call = {sizeof(call),    kernel->weights()[0], input.tensor(),
                                      expert.tensor(), score.tensor(),       bias.data(),
                                      select.data()};
    ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
    for (int64_t row = 0; row < 6; ++row) {
      std::vector<double> scores(kExperts);
      std::vector<double> values(kExperts);
      for (size_t e = 0; e < kExperts; ++e) {
        double logit = static_cast<double>(bias[e]);
        for (int64_t k = 0; k < 16; ++k)
          logit += number_at(input, row, k) *
                   stored_weight(question.sources[0], static_cast<int64_t>(e), k);
        scores[e] = sigmoid(logit);
        values[e] = scores[e] + static_cast<double>(select[e]);
      }
      std::vector<std::pair<double, size_t>> groups;
      for (size_t g = 0; g < kExperts / kGroup; ++g) {
        std::vector<double> of_group(&values[g * kGroup], &values[g * kGroup] + kGroup);
        std::sort(of_group.rbegin(), of_group.rend());
        groups.emplace_back(
            rule == COLIBRI_GROUP_RULE_MAX ? of_group[0] : of_group[0] + of_group[1], g);
      }
      std::sort(groups.rbegin(), groups.rend());
      std::vector<std::pair<double, size_t>> kept;
      for (size_t i = 0; i < 3; ++i) {
        for (size_t e = groups[i].second * kGroup; e < (groups[i].second + 1) * kGroup; ++e)
          kept.emplace_back(values[e], e);
      }
      std::sort(kept.rbegin(), kept.rend());
      double sum = 0;
      for (size_t slot = 0; slot < 5; ++slot) sum += scores[kept[slot].second];
      for (size_t slot = 0; slot < 5; ++slot) {
        const size_t want = kept[slot].second;
        EXPECT_EQ(read_number<int32_t>(expert.memory().data() + row * 20 +
                                       static_cast<int64_t>(slot) * 4),
                  static_cast<int32_t>(want));
        EXPECT_NEAR(number_at(score, row, static_cast<int64_t>(slot)), scores[want] / sum * 2.5,
                    1e-5);
      }
    }
  }
}

// The value of an expert whose group is not kept is zero, which may be more than a kept one has.
TEST(RouterOptions, TheZeroMaskCountsMoreThanANegativeValue) {
  Question question;
  question.op = COLIBRI_OP_ROUTER;
  colibri_router_attributes a = {};
  a.score = COLIBRI_SCORE_SIGMOID;
  a.top_k = 2;
  a.select_bias = 1;
  a.groups = 2;
  a.keep_groups = 1;
  a.group_rule = COLIBRI_GROUP_RULE_MAX;
  const Rows input(std::vector<float>(1, 0.0f), 1);  // every score is 1 / 2
  const std::vector<float> select = {-0.9f, -0.8f, -0.7f, 0.3f};
  question.weights = {conformance::matrix(COLIBRI_CODEC_F32, 4, 1, nullptr)};
  Random random(2);
  question.sources = {conformance::make_weight(random, COLIBRI_CODEC_F32, 4, 1)};
  const auto second_choice = [&](uint32_t mask) {
    a.group_mask = mask;
    question.set_attributes(a);
    auto kernel = reference_kernel(question);
    EXPECT_TRUE(kernel.ok()) << kernel.status().text();
    const Rows expert(COLIBRI_CODEC_I32, 1, 2);
    const Rows score(COLIBRI_CODEC_F32, 1, 2);
    const colibri_router_args call = {sizeof(call),    kernel->weights()[0], input.tensor(),
                                      expert.tensor(), score.tensor(),       nullptr,
                                      select.data()};
    EXPECT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
    EXPECT_EQ(read_number<int32_t>(expert.memory().data()), 3);
    EXPECT_EQ(number_at(score, 0, 1), 0.5);
    return read_number<int32_t>(expert.memory().data() + 4);
  };
  EXPECT_EQ(second_choice(COLIBRI_GROUP_MASK_NEGATIVE_INFINITY), 2);
  EXPECT_EQ(second_choice(COLIBRI_GROUP_MASK_ZERO), 0);
}

TEST(AttentionOptions, ASinkTakesItsShare) {
  constexpr int64_t kDim = 20;
  for (const int32_t last : {40, 1100}) {
    Random random(3);
    KvCacheMemory cache(COLIBRI_CODEC_F32, 1, 1, last / 16 + 1, kDim);
    cache.fill(random, last + 1);
    const Rows q(conformance::make_rows(random, Style::kPlain, 1, kDim), kDim);
    const auto answer = [&](const float* sink) {
      Question question;
      question.op = COLIBRI_OP_ATTENTION;
      question.set_attributes(colibri_attention_attributes{0, COLIBRI_CODEC_F32, 1, 1, kDim, 0,
                                                           0.5f, sink == nullptr ? 0u : 1u});
      auto kernel = reference_kernel(question);
      EXPECT_TRUE(kernel.ok()) << kernel.status().text();
      const Rows output(COLIBRI_CODEC_F32, 1, kDim);
      const colibri_attention_args call = {sizeof(call), q.tensor(), output.tensor(), &last,
                                           nullptr,      cache.k(),  cache.v(),       sink};
      EXPECT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
      std::vector<double> numbers;
      for (int64_t i = 0; i < kDim; ++i) numbers.push_back(number_at(output, 0, i));
      return numbers;
    };
    const auto key = [&](int64_t at, int64_t i) {
      return static_cast<double>(
          read_number<float>(static_cast<const uint8_t*>(cache.k()[0].buffer) +
                             ((at / 16 * kDim + i) * 16 + at % 16) * 4));
    };
    double sum = 0;  // of exp(score)
    for (int64_t at = 0; at <= last; ++at) {
      double dot = 0;
      for (int64_t i = 0; i < kDim; ++i) dot += number_at(q, 0, i) * key(at, i);
      sum += std::exp(dot * 0.5);
    }
    const std::vector<double> without = answer(nullptr);
    for (const float sink : {-3.0f, 4.0f, 9.0f}) {
      const std::vector<double> with = answer(&sink);
      const double share = sum / (sum + std::exp(static_cast<double>(sink)));
      for (size_t i = 0; i < kDim; ++i) EXPECT_NEAR(with[i], without[i] * share, 1e-6) << sink;
    }
    const float none = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(answer(&none), without);
  }
}

// The same bytes as attention with one key head, whose values are the latent part of the keys.
TEST(MlaAttention, IsAttentionToTheLatentPart) {
  constexpr int64_t kHeads = 3;
  constexpr int64_t kLatent = 20;
  constexpr int64_t kRope = 6;
  constexpr int64_t kDim = kLatent + kRope;
  constexpr int64_t kKeys = 1100;
  for (const uint32_t dtype : {COLIBRI_CODEC_F32, COLIBRI_CODEC_F16}) {
    Random random(4);
    const Rows k(conformance::make_rows(random, Style::kPlain, kKeys, kDim), kDim);
    const KvCacheMemory both(dtype, 1, 1, kKeys / 16 + 1, kDim);
    const KvCacheMemory latent(dtype, 1, 1, kKeys / 16 + 1, kDim);
    std::vector<int32_t> position(kKeys);
    std::iota(position.begin(), position.end(), 0);
    for (const uint32_t keys_only : {0u, 1u}) {
      Question write;
      write.op = COLIBRI_OP_KV_WRITE;
      write.set_attributes(colibri_kv_write_attributes{0, dtype, 1, kDim, keys_only});
      auto kernel = reference_kernel(write);
      ASSERT_TRUE(kernel.ok()) << kernel.status().text();
      colibri_kv_write_args call = {};
      call.struct_size = sizeof(call);
      call.k = k.tensor();
      call.position = position.data();
      call.k_cache = keys_only == 1 ? latent.k() : both.k();
      if (keys_only == 0) call.v = k.tensor();
      if (keys_only == 0) call.v_cache = both.v();
      ASSERT_TRUE(kernel->run(&call, Schedule::kOneRange).ok());
    }
    const std::vector<float> numbers =
        conformance::make_rows(random, Style::kPlain, 2, kHeads * kDim);
    const Rows q(numbers, kHeads * kDim);
    const Rows q_parts(numbers, kDim);
    colibri_tensor q_latent = q_parts.tensor();
    q_latent.shape[1] = kLatent;
    colibri_tensor q_rope = q_parts.tensor();
    q_rope.shape[1] = kRope;
    q_rope.offset = kLatent * 4;
    const int32_t rows[] = {70, kKeys - 1};
    const Rows want(COLIBRI_CODEC_F32, 2, kHeads * kDim);
    const Rows got(COLIBRI_CODEC_F32, 2 * kHeads, kLatent);
    Question attention;
    attention.op = COLIBRI_OP_ATTENTION;
    attention.set_attributes(colibri_attention_attributes{0, dtype, kHeads, 1, kDim, 0, 0.4f, 0});
    Question mla;
    mla.op = COLIBRI_OP_MLA_ATTENTION;
    mla.set_attributes(colibri_mla_attention_attributes{0, dtype, kHeads, kLatent, kRope, 0.4f});
    auto reference = reference_kernel(attention);
    auto kernel = reference_kernel(mla);
    ASSERT_TRUE(reference.ok() && kernel.ok());
    const colibri_attention_args call = {sizeof(call), q.tensor(), want.tensor(), rows,
                                         nullptr,      both.k(),   both.v(),      nullptr};
    const colibri_mla_attention_args mla_call = {
        sizeof(mla_call), q_latent, q_rope, got.tensor(), rows, nullptr, latent.k()};
    ASSERT_TRUE(reference->run(&call, Schedule::kOneRange).ok());
    ASSERT_TRUE(kernel->run(&mla_call, Schedule::kOneRange).ok());
    for (int64_t head = 0; head < 2 * kHeads; ++head) {
      EXPECT_EQ(std::memcmp(got.memory().data() + head * kLatent * 4,
                            want.memory().data() + head * kDim * 4, kLatent * 4),
                0)
          << head;
    }
  }
}

}  // namespace
}  // namespace colibri::cpu_generic
