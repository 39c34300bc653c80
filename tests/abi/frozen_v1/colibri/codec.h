/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h: how numbers are stored. Names follow GGUF; the numbers are ours and never change. */
#ifndef COLIBRI_CODEC_H
#define COLIBRI_CODEC_H

enum {
  COLIBRI_CODEC_NONE = 0,
  /* plain numbers, little-endian */
  COLIBRI_CODEC_F32 = 1,
  COLIBRI_CODEC_F16 = 2,
  COLIBRI_CODEC_BF16 = 3,
  COLIBRI_CODEC_I32 = 4,
  COLIBRI_CODEC_I8 = 5,
  COLIBRI_CODEC_U8 = 6,
  COLIBRI_CODEC_F64 = 7,
  COLIBRI_CODEC_I16 = 8,
  COLIBRI_CODEC_I64 = 9,
  COLIBRI_CODEC_BOOL = 10,
  COLIBRI_CODEC_F8_E4M3 = 11,
  COLIBRI_CODEC_F8_E5M2 = 12,
  COLIBRI_CODEC_U16 = 13,
  COLIBRI_CODEC_U32 = 14,
  COLIBRI_CODEC_U64 = 15,
  /* quantised weights: blocks of elements along a row */
  COLIBRI_CODEC_Q8_0 = 32, /* 32 elements: f16 d, int8 q[32]; w = d * q */
  COLIBRI_CODEC_Q4_0 = 33, /* 32 elements: f16 d, u8 q[16], element i in the low nibble of q[i], i + 16 in the high one;
                              w = d * (q - 8) */
  /* prepared activations (docs/numerics.md): a row is int8 q[32 * blocks], f32 d[blocks], int32 sum[blocks] */
  COLIBRI_CODEC_Q8_32 = 96
};

#endif
