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
  /* Quantised weights: blocks of elements along a row. A block's fields stand in this order without gaps, little-endian.
   * Products and sums are f32, in the written order. nibble(i) of 32 elements in u8 q[16]: element i is the low half of
   * q[i], element i + 16 the high half. */
  COLIBRI_CODEC_Q8_0 = 32, /* 32 elements: f16 d, int8 q[32]; w = d * q */
  COLIBRI_CODEC_Q4_0 = 33, /* 32: f16 d, u8 q[16]; w = d * (nibble - 8) */
  COLIBRI_CODEC_Q4_1 = 34, /* 32: f16 d, f16 m, u8 q[16]; w = d * nibble + m */
  COLIBRI_CODEC_Q5_0 = 35, /* 32: f16 d, u32 h, u8 q[16]; w = d * (nibble + 16 * bit i of h - 16) */
  COLIBRI_CODEC_Q5_1 =
      36, /* 32: f16 d, f16 m, u32 h, u8 q[16]; w = d * (nibble + 16 * bit i of h) + m */
  /* 256 elements; element i = 128a + 32b + c, or 64a + 32b + c where a pair of 32 shares bytes; j = i / 16 or i / 32 */
  COLIBRI_CODEC_Q2_K =
      37, /* u8 s[16], u8 q[64], f16 d, f16 m; w = d * (s[i/16] & 15) * (q[32a+c] >> 2b & 3)
                              - m * (s[i/16] >> 4) */
  COLIBRI_CODEC_Q3_K = 38, /* u8 h[32], u8 q[64], u8 s[12], f16 d; w = d * (s6(i/16) - 32)
                              * ((q[32a+c] >> 2b & 3) + 4 * (bit 4a+b of h[c]) - 4); s6(j): its low 4 bits are half j/8 of
                              s[j%8], its high 2 bits s[8 + j%4] >> 2(j/4) & 3 */
  COLIBRI_CODEC_Q4_K =
      39, /* f16 d, f16 m, u8 s[12], u8 q[128]; w = d * scale(i/32) * (half b of q[32a+c], 64a+32b+c)
                              - m * min(i/32); of 6 bits each, j < 4: scale = s[j] & 63, min = s[j+4] & 63; else scale =
                              s[j+4] & 15 | s[j-4] >> 6 << 4, min = s[j+4] >> 4 | s[j] >> 6 << 4 */
  COLIBRI_CODEC_Q5_K =
      40, /* f16 d, f16 m, u8 s[12], u8 h[32], u8 q[128]; as q4_K with 16 * (bit 2a+b of h[c]) added to
                              the half */
  COLIBRI_CODEC_Q6_K =
      41, /* u8 l[128], u8 h[64], int8 s[16], f16 d; w = d * s[i/16] * (half b/2 of l[64a + 32(b%2) + c]
                              + 16 * (h[32a+c] >> 2b & 3) - 32) */
  COLIBRI_CODEC_IQ4_NL =
      42, /* 32: f16 d, u8 q[16]; w = d * level(nibble), levels -127, -104, -83, -65, -49, -35, -22,
                                -10, 1, 13, 25, 38, 53, 69, 89, 113 */
  COLIBRI_CODEC_IQ4_XS =
      43, /* 256: f16 d, u16 h, u8 l[4], u8 q[8][16]; of block j = i/32: w = d * (s6 - 32) *
                                level(nibble), s6 = (half j%2 of l[j/2]) + 16 * (h >> 2j & 3) */
  COLIBRI_CODEC_MXFP4 =
      44, /* 32: u8 e, u8 q[16]; w = 2^(e - 127) * fp4(nibble), values 0, 0.5, 1, 1.5, 2, 3, 4, 6, and
                                from 8 on 0 and the same negative (OCP Microscaling Formats 1.0, but no -0); e = 255 is NaN */
  COLIBRI_CODEC_F8_E4M3_128 =
      45, /* 128: f32 d, u8 q[128] of f8_e4m3; w = d * q: a row of an fp8 checkpoint beside the
                                     scales of its blocks of 128 columns */
  /* prepared activations (docs/numerics.md): a row is int8 q[32 * blocks], f32 d[blocks], int16 sum[2 * blocks] */
  COLIBRI_CODEC_Q8_32 = 96
};

#endif
