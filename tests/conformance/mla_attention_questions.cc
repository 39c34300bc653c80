// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "tests/conformance/kv_cache_memory.h"
#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

struct Shape {
  int64_t heads, latent, rope_dims;
};

std::vector<int32_t> chunk(int32_t first, int32_t rows) {
  std::vector<int32_t> positions;
  for (int32_t i = 0; i < rows; ++i) positions.push_back(first + i);
  return positions;
}

// Rows at these positions; `sequence` is empty if all are of the first one.
void check_one(Checker& checker, Random& random, uint32_t dtype, const Shape& shape,
               const std::vector<int32_t>& position, const std::vector<int32_t>& sequence,
               Style style) {
  const auto rows = static_cast<int64_t>(position.size());
  int64_t last = 0;
  for (int32_t at : position) last = std::max<int64_t>(last, at);
  Question question;
  question.op = COLIBRI_OP_MLA_ATTENTION;
  question.name = std::string(codec_name(dtype)) + ", " + std::to_string(shape.heads) +
                  " heads of " + std::to_string(shape.latent) + " and " +
                  std::to_string(shape.rope_dims) + ", " + std::to_string(rows) +
                  " rows up to position " + std::to_string(last) + ", " + style_name(style);
  colibri_mla_attention_attributes attributes = {};
  attributes.cache_dtype = dtype;
  attributes.heads = shape.heads;
  attributes.latent = shape.latent;
  attributes.rope_dims = shape.rope_dims;
  attributes.scale = 0.3f;
  question.set_attributes(attributes);
  question.max_rows = rows;
  KvCacheMemory cache(dtype, 2, 1, last / 16 + 2, shape.latent + shape.rope_dims);
  cache.fill(random, last + 1);
  const Rows q_latent(make_rows(random, style, rows * shape.heads, shape.latent), shape.latent, 8);
  const Rows q_rope(make_rows(random, Style::kPlain, rows * shape.heads, shape.rope_dims),
                    shape.rope_dims, 4);
  checker.check(question, [&](const std::vector<colibri_tensor>&, const RunCall& run) {
    auto call = arguments<colibri_mla_attention_args>();
    const Rows output(COLIBRI_CODEC_F32, rows * shape.heads, shape.latent, 12);
    call.q_latent = q_latent.tensor();
    call.q_rope = q_rope.tensor();
    call.output = output.tensor();
    call.position = position.data();
    call.sequence = sequence.empty() ? nullptr : sequence.data();
    call.cache = cache.k();
    run(&call);
    return std::vector<Output>{{"output", output}};
  });
}

}  // namespace

void check_mla_attention(Checker& checker) {
  Random random(10);
  const std::vector<int32_t> mixed = {30, 7, 8, 100, 0, 64, 63, 3, 3};
  const std::vector<int32_t> sequences = {0, 1, 1, 0, 0, 1, 1, 0, 1};
  for (uint32_t dtype : kCacheCodecs) {
    for (int32_t position : {0, 15, 16, 63, 64, 1023, 1024, 1030}) {
      if (checker.quick() && position > 64 && position != 1024) continue;
      check_one(checker, random, dtype, {2, 20, 6}, chunk(position, 1), {}, Style::kPlain);
    }
    check_one(checker, random, dtype, {3, 20, 6}, chunk(0, 0), {}, Style::kPlain);
    check_one(checker, random, dtype, {1, 16, 2}, chunk(0, 13), {}, Style::kPlain);
    check_one(checker, random, dtype, {5, 33, 8}, mixed, sequences, Style::kPlain);
    check_one(checker, random, dtype, {19, 17, 4}, chunk(60, 6), {}, Style::kPlain);
    check_one(checker, random, dtype, {4, 24, 8}, chunk(20, 5), {}, Style::kExtreme);
    check_one(checker, random, dtype, {4, 24, 8}, chunk(20, 5), {}, Style::kNotFinite);
    if (checker.quick()) continue;
    for (int64_t latent : {1, 16, 40, 128}) {
      for (int64_t heads : {1, 3, 4, 16, 33}) {
        check_one(checker, random, dtype, {heads, latent, 10}, chunk(100, 1), {}, Style::kPlain);
        check_one(checker, random, dtype, {heads, latent, 10}, mixed, sequences, Style::kPlain);
      }
    }
    check_one(checker, random, dtype, {5, 20, 6}, chunk(2045, 6), {}, Style::kPlain);
  }
}

}  // namespace colibri::conformance
