// SPDX-License-Identifier: Apache-2.0
// Made-up inputs: the same for every run and every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace colibri::conformance {

// xorshift64* (Vigna 2016).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  uint64_t next();
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  float uniform();  // in (-1, 1)

 private:
  uint64_t state_;
};

enum class Style {
  kPlain,      // uniform in (-1, 1)
  kExtreme,    // zeros of both signs, subnormals, ties of rounding, magnitudes from 1e-45 to 1e30
  kNotFinite,  // plain with a few NaN and infinities, in some of the rows only
};
const char* style_name(Style style);

std::vector<float> make_rows(Random& random, Style style, int64_t rows, int64_t cols);

// A row-major weight as it stands in a file.
struct SourceMatrix {
  uint32_t codec = 0;
  int64_t rows = 0, cols = 0, stride = 0;  // stride in bytes
  std::vector<uint8_t> bytes;
};
// Weights of about the size of a model's or smaller; of quantised codecs every bit pattern of the
// integers occurs.
SourceMatrix make_weight(Random& random, uint32_t codec, int64_t rows, int64_t cols);

const char* codec_name(uint32_t codec);

}  // namespace colibri::conformance
