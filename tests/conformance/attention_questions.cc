// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <vector>

#include "tests/conformance/kv_cache_memory.h"
#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

struct Shape {
  int64_t heads, kv_heads, head_dim, window;
  bool sinks = false;
};

// Rows at these positions of these sequences.
struct Queries {
  std::vector<int32_t> position, sequence;
};

Queries chunk(int32_t first, int32_t rows) {
  Queries queries;
  for (int32_t i = 0; i < rows; ++i) queries.position.push_back(first + i);
  queries.sequence.assign(static_cast<size_t>(rows), 0);
  return queries;
}

// Sinks below, among and above the scores.
std::vector<float> make_sinks(Random& random, Style style, int64_t heads) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kOrdinary[] = {0, 2, -120, 25, -1};
  constexpr float kSpecial[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1};
  std::vector<float> sinks;
  for (int64_t i = 0; i < heads; ++i) {
    sinks.push_back(style == Style::kNotFinite ? kSpecial[i % 4]
                                               : kOrdinary[i % 5] + random.uniform());
  }
  return sinks;
}

void check_one(Checker& checker, Random& random, uint32_t dtype, const Shape& shape,
               const Queries& queries, Style style) {
  const auto rows = static_cast<int64_t>(queries.position.size());
  const int64_t cols = shape.heads * shape.head_dim;
  int64_t last = 0;
  for (int32_t position : queries.position) last = std::max<int64_t>(last, position);
  Question question;
  question.op = COLIBRI_OP_ATTENTION;
  question.name = std::string(codec_name(dtype)) + ", " + std::to_string(shape.heads) + ":" +
                  std::to_string(shape.kv_heads) + " heads of " + std::to_string(shape.head_dim) +
                  ", window " + std::to_string(shape.window) + (shape.sinks ? ", sinks, " : ", ") +
                  std::to_string(rows) + " rows up to position " + std::to_string(last) + ", " +
                  style_name(style);
  colibri_attention_attributes attributes = {};
  attributes.cache_dtype = dtype;
  attributes.heads = shape.heads;
  attributes.kv_heads = shape.kv_heads;
  attributes.head_dim = shape.head_dim;
  attributes.window = shape.window;
  attributes.scale = 0.3f;
  attributes.sinks = shape.sinks ? 1 : 0;
  question.set_attributes(attributes);
  question.max_rows = rows;
  KvCacheMemory cache(dtype, 2, shape.kv_heads, last / 16 + 2, shape.head_dim);
  cache.fill(random, last + 1);
  const Rows q(make_rows(random, style, rows, cols), cols, 8);
  const std::vector<float> sinks = make_sinks(random, style, shape.heads);
  const bool one_sequence = std::all_of(queries.sequence.begin(), queries.sequence.end(),
                                        [](int32_t s) { return s == 0; });
  checker.check(question, [&](const std::vector<colibri_tensor>&, const RunCall& run) {
    auto call = arguments<colibri_attention_args>();
    const Rows output(COLIBRI_CODEC_F32, rows, cols, 12);
    call.q = q.tensor();
    call.output = output.tensor();
    call.position = queries.position.data();
    call.sequence = one_sequence ? nullptr : queries.sequence.data();
    call.k_cache = cache.k();
    call.v_cache = cache.v();
    call.sink = shape.sinks ? sinks.data() : nullptr;
    run(&call);
    return std::vector<Output>{{"output", output}};
  });
}

}  // namespace

void check_attention(Checker& checker) {
  Random random(7);
  for (uint32_t dtype : kCacheCodecs) {
    // one row, around the borders of blocks, steps and splits
    for (int32_t position : {0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 1023, 1024, 1030}) {
      if (checker.quick() && position > 65 && position != 1024) continue;
      check_one(checker, random, dtype, {2, 1, 20, 0}, chunk(position, 1), Style::kPlain);
    }
    check_one(checker, random, dtype, {4, 2, 24, 0}, chunk(0, 0), Style::kPlain);
    check_one(checker, random, dtype, {4, 4, 24, 0}, chunk(0, 13), Style::kPlain);
    check_one(checker, random, dtype, {6, 1, 20, 0}, chunk(60, 5), Style::kPlain);
    check_one(checker, random, dtype, {3, 3, 64, 7}, chunk(58, 13), Style::kPlain);
    check_one(checker, random, dtype, {2, 2, 16, 70}, chunk(1020, 9), Style::kPlain);
    check_one(checker, random, dtype, {2, 1, 24, 0}, chunk(20, 5), Style::kExtreme);
    check_one(checker, random, dtype, {2, 1, 24, 0}, chunk(20, 5), Style::kNotFinite);
    const Queries mixed = {{30, 7, 8, 100, 0, 64, 63, 3, 3}, {0, 1, 1, 0, 0, 1, 1, 0, 1}};
    check_one(checker, random, dtype, {4, 2, 20, 0}, mixed, Style::kPlain);
    check_one(checker, random, dtype, {10, 2, 20, 0, true}, mixed, Style::kPlain);
    check_one(checker, random, dtype, {5, 1, 24, 7, true}, chunk(58, 13), Style::kPlain);
    check_one(checker, random, dtype, {5, 5, 16, 0, true}, chunk(1022, 4), Style::kExtreme);
    check_one(checker, random, dtype, {8, 2, 24, 0, true}, chunk(20, 5), Style::kNotFinite);
    if (checker.quick()) continue;
    for (int64_t head_dim : {1, 20, 24, 64, 128}) {
      for (int64_t group : {1, 2, 3, 4, 8}) {
        check_one(checker, random, dtype, {2 * group, 2, head_dim, 0}, chunk(100, 1),
                  Style::kPlain);
        check_one(checker, random, dtype, {2 * group, 2, head_dim, 33}, chunk(40, 33),
                  Style::kPlain);
        check_one(checker, random, dtype, {2 * group, 2, head_dim, 0}, mixed, Style::kExtreme);
      }
    }
    for (int64_t window : {0, 1, 16, 64, 1000, 1024, 1100}) {
      check_one(checker, random, dtype, {2, 1, 20, window}, chunk(2045, 6), Style::kPlain);
      check_one(checker, random, dtype, {5, 1, 20, window, true}, chunk(2045, 6), Style::kPlain);
      check_one(checker, random, dtype, {4, 1, 20, window}, {{2100, 1023, 1024, 5}, {0, 0, 0, 0}},
                Style::kPlain);
    }
  }
}

}  // namespace colibri::conformance
