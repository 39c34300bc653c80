// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tests/conformance/memory.h"
#include "tests/conformance/numbers.h"

namespace colibri::conformance {

// Key and value caches of some sequences. Places never written hold NaN (0xA5 repeated is none, so
// fill() writes them).
class KvCacheMemory {
 public:
  KvCacheMemory(uint32_t dtype, int64_t sequences, int64_t kv_heads, int64_t blocks,
                int64_t head_dim);

  // Numbers for positions below `filled`, NaN from there on.
  void fill(Random& random, int64_t filled);

  const colibri_tensor* k() const { return k_.data(); }
  const colibri_tensor* v() const { return v_.data(); }
  std::vector<Output> outputs() const;

 private:
  void fill_parts(Random& random, int64_t filled);  // of q8_0
  void set(const Memory& memory, int64_t index, float x) const;

  uint32_t dtype_;
  int64_t kv_heads_, blocks_, head_dim_;
  std::vector<Memory> memory_;
  std::vector<colibri_tensor> k_, v_;  // by sequence
};

}  // namespace colibri::conformance
