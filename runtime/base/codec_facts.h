// SPDX-License-Identifier: Apache-2.0
// Names and sizes of the codecs (colibri/codec.h), in one place for the host and for plugins.
#pragma once

#include <cstdint>

#include "colibri/codec.h"

namespace colibri {

struct CodecFacts {
  uint32_t id;       // COLIBRI_CODEC_*
  const char* name;  // as GGUF spells it
  int64_t elements;  // of a row that are stored together; 1 for plain numbers
  int64_t bytes;     // that they take
  bool weights;      // may hold weights of a model
  bool integer;  // whose products are integers: they take activations as q8_32 (docs/numerics.md)
};

inline constexpr CodecFacts kCodecFacts[] = {
    {COLIBRI_CODEC_F32, "f32", 1, 4, true, false},
    {COLIBRI_CODEC_F16, "f16", 1, 2, true, false},
    {COLIBRI_CODEC_BF16, "bf16", 1, 2, true, false},
    {COLIBRI_CODEC_I32, "i32", 1, 4, false, false},
    {COLIBRI_CODEC_I8, "i8", 1, 1, false, false},
    {COLIBRI_CODEC_U8, "u8", 1, 1, false, false},
    {COLIBRI_CODEC_F64, "f64", 1, 8, false, false},
    {COLIBRI_CODEC_I16, "i16", 1, 2, false, false},
    {COLIBRI_CODEC_I64, "i64", 1, 8, false, false},
    {COLIBRI_CODEC_BOOL, "bool", 1, 1, false, false},
    {COLIBRI_CODEC_F8_E4M3, "f8_e4m3", 1, 1, false, false},
    {COLIBRI_CODEC_F8_E5M2, "f8_e5m2", 1, 1, false, false},
    {COLIBRI_CODEC_U16, "u16", 1, 2, false, false},
    {COLIBRI_CODEC_U32, "u32", 1, 4, false, false},
    {COLIBRI_CODEC_U64, "u64", 1, 8, false, false},
    {COLIBRI_CODEC_Q8_0, "q8_0", 32, 34, true, true},
    {COLIBRI_CODEC_Q4_0, "q4_0", 32, 18, true, true},
    {COLIBRI_CODEC_Q4_1, "q4_1", 32, 20, true, true},
    {COLIBRI_CODEC_Q5_0, "q5_0", 32, 22, true, true},
    {COLIBRI_CODEC_Q5_1, "q5_1", 32, 24, true, true},
    {COLIBRI_CODEC_Q2_K, "q2_K", 256, 84, true, true},
    {COLIBRI_CODEC_Q3_K, "q3_K", 256, 110, true, true},
    {COLIBRI_CODEC_Q4_K, "q4_K", 256, 144, true, true},
    {COLIBRI_CODEC_Q5_K, "q5_K", 256, 176, true, true},
    {COLIBRI_CODEC_Q6_K, "q6_K", 256, 210, true, true},
    {COLIBRI_CODEC_IQ4_NL, "iq4_nl", 32, 18, true, true},
    {COLIBRI_CODEC_IQ4_XS, "iq4_xs", 256, 136, true, true},
    {COLIBRI_CODEC_MXFP4, "mxfp4", 32, 17, true, true},
    {COLIBRI_CODEC_F8_E4M3_128, "f8_e4m3_128", 128, 132, true, false},
    {COLIBRI_CODEC_Q8_32, "q8_32", 32, 40, false, false},
};

// nullptr for an unknown number. Local to each file, as files may be built for different
// instruction sets.
static constexpr const CodecFacts* codec_facts(uint32_t id) {
  for (const CodecFacts& facts : kCodecFacts) {
    if (facts.id == id) return &facts;
  }
  return nullptr;
}

static constexpr bool has_integer_product(uint32_t id) {
  const CodecFacts* facts = codec_facts(id);
  return facts != nullptr && facts->integer;
}

}  // namespace colibri
