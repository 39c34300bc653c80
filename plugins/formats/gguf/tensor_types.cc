// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/gguf/tensor_types.h"

namespace colibri::gguf {
namespace {

// https://github.com/ggml-org/ggml/blob/master/include/ggml.h, enum ggml_type. A number that is not
// here was given back (4, 5, 31 to 33, 36 to 38) or is newer than this table.
constexpr TensorType kTypes[] = {
    {0, "f32", COLIBRI_CODEC_F32},        {1, "f16", COLIBRI_CODEC_F16},
    {2, "q4_0", COLIBRI_CODEC_Q4_0},      {3, "q4_1", COLIBRI_CODEC_Q4_1},
    {6, "q5_0", COLIBRI_CODEC_Q5_0},      {7, "q5_1", COLIBRI_CODEC_Q5_1},
    {8, "q8_0", COLIBRI_CODEC_Q8_0},      {9, "q8_1", COLIBRI_CODEC_NONE},
    {10, "q2_K", COLIBRI_CODEC_Q2_K},     {11, "q3_K", COLIBRI_CODEC_Q3_K},
    {12, "q4_K", COLIBRI_CODEC_Q4_K},     {13, "q5_K", COLIBRI_CODEC_Q5_K},
    {14, "q6_K", COLIBRI_CODEC_Q6_K},     {15, "q8_K", COLIBRI_CODEC_NONE},
    {16, "iq2_xxs", COLIBRI_CODEC_NONE},  {17, "iq2_xs", COLIBRI_CODEC_NONE},
    {18, "iq3_xxs", COLIBRI_CODEC_NONE},  {19, "iq1_s", COLIBRI_CODEC_NONE},
    {20, "iq4_nl", COLIBRI_CODEC_IQ4_NL}, {21, "iq3_s", COLIBRI_CODEC_NONE},
    {22, "iq2_s", COLIBRI_CODEC_NONE},    {23, "iq4_xs", COLIBRI_CODEC_IQ4_XS},
    {24, "i8", COLIBRI_CODEC_I8},         {25, "i16", COLIBRI_CODEC_I16},
    {26, "i32", COLIBRI_CODEC_I32},       {27, "i64", COLIBRI_CODEC_I64},
    {28, "f64", COLIBRI_CODEC_F64},       {29, "iq1_m", COLIBRI_CODEC_NONE},
    {30, "bf16", COLIBRI_CODEC_BF16},     {34, "tq1_0", COLIBRI_CODEC_NONE},
    {35, "tq2_0", COLIBRI_CODEC_NONE},    {39, "mxfp4", COLIBRI_CODEC_MXFP4},
};

}  // namespace

const TensorType* tensor_type(uint32_t number) {
  for (const TensorType& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

}  // namespace colibri::gguf
