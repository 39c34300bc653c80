// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace colibri::cpu_generic {

// The order of every sum of float products: chains of 8 products, blocks of 64, the sum of the
// blocks. weight(k) is the factor of x[k].
template <class Weight>
float chain_sum(int64_t n, const float* x, Weight weight) {
  float sum = 0;
  for (int64_t block = 0; block < n; block += 64) {
    const int64_t block_end = std::min(block + 64, n);
    float of_block = 0;
    for (int64_t begin = block; begin < block_end; begin += 8) {
      float chain = 0;
      for (int64_t k = begin; k < std::min(begin + 8, block_end); ++k)
        chain = std::fma(x[k], weight(k), chain);
      of_block += chain;
    }
    sum += of_block;
  }
  return sum;
}

}  // namespace colibri::cpu_generic
