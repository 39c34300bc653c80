// SPDX-License-Identifier: Apache-2.0
// Attention of one query head to the keys that it sees.
#pragma once

#include <cstdint>

#include "colibri/plugin.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_generic/kv_cache.h"

namespace colibri::cpu_generic {

class AttentionQuery {
 public:
  struct Shape {
    int64_t key_dim, value_dim;
    float scale;  // on the dot product of query and key
  };
  // Of the memory that a query works in.
  static int64_t memory_bytes(int64_t key_dim, int64_t value_dim) {
    return 2 * value_dim * 4 + cpu::q8_parts(key_dim) * 40;
  }
  // q is [key_dim].
  AttentionQuery(const colibri_math& math, const Shape& shape, const KvCache& cache,
                 int64_t kv_head, const float* q, float* memory);

  // out [value_dim] = softmax(scale * q K) V over the keys [begin, end), and over *sink as one more
  // score, without a value, unless it is nullptr.
  void run(int64_t begin, int64_t end, const float* sink, float* out) const;

 private:
  // Softmax so far: the largest score, the sum of exp(score - most), and the sum of
  // exp(score - most) * value.
  struct Softmax {
    float most;
    float weight;
    float* values;  // [value_dim]
  };

  float product(int64_t key) const;  // of the query and a key
  void run_split(int64_t begin, int64_t end, Softmax* part) const;
  void merge(const Softmax& part, Softmax* all) const;
  void merge_sink(float sink, Softmax* all) const;

  const colibri_math& math_;
  Shape a_;
  const KvCache& cache_;
  int64_t kv_head_;
  const float* q_;
  float* memory_;              // [2 * value_dim]
  cpu::PreparedRow prepared_;  // the query, padded with zeros; if the cache is quantised
};

}  // namespace colibri::cpu_generic
