// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tests/conformance/kv_cache_memory.h"
#include "tests/conformance/questions.h"

namespace colibri::conformance {

namespace {

void check_one(Checker& checker, Random& random, uint32_t dtype, int64_t heads, int64_t head_dim,
               bool keys_only, int64_t rows, Style style) {
  constexpr int64_t kBlocks = 3;
  const int64_t cols = heads * head_dim;
  Question question;
  question.op = COLIBRI_OP_KV_WRITE;
  question.name = std::string(codec_name(dtype)) + ", head_dim " + std::to_string(head_dim) +
                  (keys_only ? ", keys only, " : ", ") + std::to_string(rows) + " rows, " +
                  style_name(style);
  question.set_attributes(
      colibri_kv_write_attributes{0, dtype, heads, head_dim, keys_only ? 1u : 0u});
  question.max_rows = rows;
  const Rows k(make_rows(random, style, rows, cols), cols, 4);
  const Rows v(make_rows(random, style, rows, cols), cols);
  const std::vector<int32_t> position = {14, 15, 16, 17,
                                         47, 0,  31};  // across blocks, the last place
  const std::vector<int32_t> sequence = {0, 0, 0, 0, 1, 1, 1};
  checker.check(question, [&](const std::vector<colibri_tensor>&, const RunCall& run) {
    auto call = arguments<colibri_kv_write_args>();
    const KvCacheMemory cache(dtype, 2, heads, kBlocks, head_dim);
    call.k = k.tensor();
    call.position = position.data();
    call.sequence = rows == 1 ? nullptr : sequence.data();
    call.k_cache = cache.k();
    if (!keys_only) {
      call.v = v.tensor();
      call.v_cache = cache.v();
    }
    run(&call);
    return cache.outputs();
  });
}

}  // namespace

void check_kv_write(Checker& checker) {
  Random random(6);
  for (uint32_t dtype : kCacheCodecs) {
    for (int64_t head_dim : {1, 20, 24, 64, 128}) {
      for (Style style : {Style::kPlain, Style::kExtreme, Style::kNotFinite}) {
        for (int64_t rows : {0, 1, 7}) {
          check_one(checker, random, dtype, 2, head_dim, false, rows, style);
          check_one(checker, random, dtype, 1, head_dim + 3, true, rows, style);
        }
      }
    }
  }
}

}  // namespace colibri::conformance
