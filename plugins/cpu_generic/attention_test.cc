// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plugins/cpu_generic/test_matrix.h"
#include "tests/conformance/kv_cache_memory.h"

namespace colibri::cpu_generic {
namespace {

using conformance::KvCacheMemory;
using conformance::Question;
using conformance::Random;
using conformance::Rows;
using conformance::Style;

struct Shape {
  int64_t heads, kv_heads, head_dim, window;
};

// Writes `keys` keys with kv_write, then compares attention of some positions with softmax in
// double.
void check(const Shape& shape, int64_t keys, uint32_t dtype, double tolerance) {
  Random random(static_cast<uint64_t>(keys));
  const int64_t kv_cols = shape.kv_heads * shape.head_dim;
  const Rows k(conformance::make_rows(random, Style::kPlain, keys, kv_cols), kv_cols);
  const Rows v(conformance::make_rows(random, Style::kPlain, keys, kv_cols), kv_cols);
  std::vector<int32_t> key_position;
  for (int32_t i = 0; i < keys; ++i) key_position.push_back(i);
  const KvCacheMemory cache(dtype, 1, shape.kv_heads, keys / 16 + 1, shape.head_dim);
  Question write;
  write.op = COLIBRI_OP_KV_WRITE;
  write.set_attributes(colibri_kv_write_attributes{0, dtype, shape.kv_heads, shape.head_dim, 0});
  auto writer = reference_kernel(write);
  ASSERT_TRUE(writer.ok()) << writer.status().text();
  const colibri_kv_write_args written = {
      sizeof(written), k.tensor(), v.tensor(), key_position.data(), nullptr, cache.k(), cache.v()};
  ASSERT_TRUE(writer->run(&written, conformance::Schedule::kOneRange).ok());

  const std::vector<int32_t> position = {0, static_cast<int32_t>(keys / 2),
                                         static_cast<int32_t>(keys - 1)};
  const int64_t cols = shape.heads * shape.head_dim;
  const Rows q(conformance::make_rows(random, Style::kPlain, 3, cols), cols);
  const Rows output(COLIBRI_CODEC_F32, 3, cols);
  Question question;
  question.op = COLIBRI_OP_ATTENTION;
  colibri_attention_attributes attributes = {};
  attributes.cache_dtype = dtype;
  attributes.heads = shape.heads;
  attributes.kv_heads = shape.kv_heads;
  attributes.head_dim = shape.head_dim;
  attributes.window = shape.window;
  attributes.scale = 0.7f;
  question.set_attributes(attributes);
  auto kernel = reference_kernel(question);
  ASSERT_TRUE(kernel.ok()) << kernel.status().text();
  const colibri_attention_args call = {sizeof(call), q.tensor(), output.tensor(), position.data(),
                                       nullptr,      cache.k(),  cache.v(),       nullptr};
  ASSERT_TRUE(kernel->run(&call, conformance::Schedule::kOneRange).ok());

  for (int64_t row = 0; row < 3; ++row) {
    const int64_t end = position[static_cast<size_t>(row)] + 1;
    const int64_t begin = shape.window > 0 ? std::max<int64_t>(end - shape.window, 0) : 0;
    for (int64_t head = 0; head < shape.heads; ++head) {
      const int64_t kv = head / (shape.heads / shape.kv_heads) * shape.head_dim;
      std::vector<double> weight;
      double sum = 0;
      for (int64_t key = begin; key < end; ++key) {
        double dot = 0;
        for (int64_t i = 0; i < shape.head_dim; ++i)
          dot += number_at(q, row, head * shape.head_dim + i) * number_at(k, key, kv + i);
        weight.push_back(std::exp(dot * static_cast<double>(attributes.scale)));
        sum += weight.back();
      }
      for (int64_t i = 0; i < shape.head_dim; ++i) {
        double want = 0;
        for (int64_t key = begin; key < end; ++key)
          want += weight[static_cast<size_t>(key - begin)] / sum * number_at(v, key, kv + i);
        EXPECT_NEAR(number_at(output, row, head * shape.head_dim + i), want, tolerance);
      }
    }
  }
}

TEST(Attention, IsSoftmaxOverAllKeys) {
  check({4, 2, 20, 0}, 1, COLIBRI_CODEC_F32, 1e-5);
  check({4, 2, 20, 0}, 100, COLIBRI_CODEC_F32, 1e-5);
}
TEST(Attention, MergesSplits) {
  check({2, 1, 16, 0}, 2500, COLIBRI_CODEC_F32, 1e-5);
}
TEST(Attention, SeesOnlyTheWindow) {
  check({2, 2, 24, 7}, 90, COLIBRI_CODEC_F32, 1e-5);
  check({2, 1, 16, 1100}, 2300, COLIBRI_CODEC_F32, 1e-5);
}
TEST(Attention, ReadsAnF16Cache) {
  check({3, 3, 20, 0}, 70, COLIBRI_CODEC_F16, 3e-3);
}
// Queries, keys and values are off by a 254th of the largest of 32 numbers at most.
TEST(Attention, ReadsAQuantisedCache) {
  check({3, 3, 20, 0}, 70, COLIBRI_CODEC_Q8_0, 2e-2);
  check({4, 2, 80, 33}, 1100, COLIBRI_CODEC_Q8_0, 2e-2);
}

}  // namespace
}  // namespace colibri::cpu_generic
