// SPDX-License-Identifier: Apache-2.0
// Stored weights of any codec as f32: the readable reference of each codec (decode_blocks.h).
#pragma once

#include <cstdint>

#include "colibri/codec.h"
#include "runtime/base/codec_facts.h"
#include "runtime/base/decode_blocks.h"

namespace colibri {

// Calls decode(block, w) for each of the blocks that `cols` elements are made of.
template <int64_t elements, int64_t bytes, typename Decode>
static inline void decode_each(const uint8_t* row, int64_t cols, float* w, Decode decode) {
  for (; cols >= elements; cols -= elements, row += bytes, w += elements) decode(row, w);
}

// cols elements of a row, a multiple of the codec's block, beginning with a block. False, and
// nothing is written, for a codec that holds no weights.
static inline bool decode_row(uint32_t codec, const uint8_t* row, int64_t cols, float* w) {
  switch (codec) {
    case COLIBRI_CODEC_F32:
      std::memcpy(w, row, static_cast<size_t>(cols) * sizeof(float));
      break;
    case COLIBRI_CODEC_F16:
      for (int64_t i = 0; i < cols; ++i) w[i] = load_f16(row + 2 * i);
      break;
    case COLIBRI_CODEC_BF16:
      for (int64_t i = 0; i < cols; ++i) w[i] = f32_from_bf16(load_from<uint16_t>(row + 2 * i));
      break;
    case COLIBRI_CODEC_Q8_0:
      decode_each<32, 34>(row, cols, w, decode_q8_0);
      break;
    case COLIBRI_CODEC_Q4_0:
      decode_each<32, 18>(row, cols, w, decode_q4_0);
      break;
    case COLIBRI_CODEC_Q4_1:
      decode_each<32, 20>(row, cols, w, decode_q4_1);
      break;
    case COLIBRI_CODEC_Q5_0:
      decode_each<32, 22>(row, cols, w, decode_q5_0);
      break;
    case COLIBRI_CODEC_Q5_1:
      decode_each<32, 24>(row, cols, w, decode_q5_1);
      break;
    case COLIBRI_CODEC_Q2_K:
      decode_each<256, 84>(row, cols, w, decode_q2_k);
      break;
    case COLIBRI_CODEC_Q3_K:
      decode_each<256, 110>(row, cols, w, decode_q3_k);
      break;
    case COLIBRI_CODEC_Q4_K:
      decode_each<256, 144>(row, cols, w, decode_q4_k);
      break;
    case COLIBRI_CODEC_Q5_K:
      decode_each<256, 176>(row, cols, w, decode_q5_k);
      break;
    case COLIBRI_CODEC_Q6_K:
      decode_each<256, 210>(row, cols, w, decode_q6_k);
      break;
    case COLIBRI_CODEC_IQ4_NL:
      decode_each<32, 18>(row, cols, w, decode_iq4_nl);
      break;
    case COLIBRI_CODEC_IQ4_XS:
      decode_each<256, 136>(row, cols, w, decode_iq4_xs);
      break;
    case COLIBRI_CODEC_MXFP4:
      decode_each<32, 17>(row, cols, w, decode_mxfp4);
      break;
    case COLIBRI_CODEC_F8_E4M3_128:
      decode_each<128, 132>(row, cols, w, decode_f8_e4m3_128);
      break;
    default:
      return false;
  }
  return true;
}

}  // namespace colibri
