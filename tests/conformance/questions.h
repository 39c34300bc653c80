// SPDX-License-Identifier: Apache-2.0
// What the questions of several operators share.
#pragma once

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/base/codec_facts.h"
#include "tests/conformance/checker.h"

namespace colibri::conformance {

inline constexpr uint32_t kFloatCodecs[] = {COLIBRI_CODEC_F32, COLIBRI_CODEC_F16,
                                            COLIBRI_CODEC_BF16};
inline constexpr uint32_t kQuantisedCodecs[] = {
    COLIBRI_CODEC_Q8_0, COLIBRI_CODEC_Q4_0, COLIBRI_CODEC_Q4_1,   COLIBRI_CODEC_Q5_0,
    COLIBRI_CODEC_Q5_1, COLIBRI_CODEC_Q2_K, COLIBRI_CODEC_Q3_K,   COLIBRI_CODEC_Q4_K,
    COLIBRI_CODEC_Q5_K, COLIBRI_CODEC_Q6_K, COLIBRI_CODEC_IQ4_NL, COLIBRI_CODEC_IQ4_XS,
    COLIBRI_CODEC_MXFP4};
inline constexpr uint32_t kCacheCodecs[] = {COLIBRI_CODEC_F32, COLIBRI_CODEC_F16,
                                            COLIBRI_CODEC_Q8_0};
// Those that are computed with as the f32 numbers they stand for.
inline constexpr uint32_t kDecodedCodecs[] = {COLIBRI_CODEC_F8_E4M3_128};
inline bool is_quantised(uint32_t codec) {
  return has_integer_product(codec);
}
// The fewest columns of a weight; of floats a number that leaves tails.
inline int64_t least_width(uint32_t codec) {
  return is_quantised(codec) ? codec_facts(codec)->elements : 7;
}
inline std::vector<uint32_t> weight_codecs() {
  std::vector<uint32_t> codecs(std::begin(kFloatCodecs), std::end(kFloatCodecs));
  codecs.insert(codecs.end(), std::begin(kQuantisedCodecs), std::end(kQuantisedCodecs));
  return codecs;
}

inline std::string shape_text(int64_t rows, int64_t cols) {
  return "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

// A call's struct with its size set.
template <typename Arguments>
Arguments arguments() {
  Arguments made = {};
  made.struct_size = sizeof(made);
  return made;
}

inline colibri_tensor weight_description(uint32_t codec, int64_t rows, int64_t cols) {
  return matrix(codec, rows, cols, nullptr);
}

}  // namespace colibri::conformance
