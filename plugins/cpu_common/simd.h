// SPDX-License-Identifier: Apache-2.0
// What the kernel templates need of an instruction set. Each simd_<isa>.h holds one struct S with
// these static functions; a plugin is the templates instantiated with it (kernels.h). Nothing else
// knows an instruction.
//
// S stands in an anonymous namespace, so that every instantiation is local to its file: code for
// one instruction set must never be merged by a linker with code for another.
//
// Types and sizes
//   F, I             kLanes floats, kLanes int32; kLanes is 8 or 16
//   kPanels          kLanes / 8: panels of 8 rows that one vector spans
//   Bytes            4 * kLanes bytes: for each lane (a row) four columns
//   SumU, SumS8      running sums of products of bytes, exact for one part of 32 columns
//
// Floats: every operation is rounded to nearest even, subnormals are kept
//   F zero(), set(float), load(const float*)
//   F load_first(const float*, n)   the first n lanes, the others 0; nothing else is read
//   void store(float*, F), store_first(float*, F, n)
//   F load_f16(const uint16_t*), load_bf16(const uint16_t*); void store_f16(uint16_t*, F)
//   F add, sub, mul, div, min, max (a, b)
//                                   min and max give b if b is NaN; what they give if only a is NaN
//                                   does not matter
//   F fma(a, b, c) = a b + c, fnma(a, b, c) = c - a b, negate(a), round(a) to an integer
// Integers
//   I zero_i(), set_i(int32_t), add_i, sub_i, max_i (a, b), half(a) = a >> 1 (arithmetic)
//   I round_to_int(F) to nearest even; F to_float(I)
//   I magnitude_bits(F)             the bits without the sign
//   F power_of_two(I n)             2^n, -126 <= n <= 127
//   int32_t most_of(I), sum_of(I)   of all lanes
//   void store_i8(int8_t*, I)       the low bytes, kLanes of them
// Weights: with kPanels = 2 the second panel stands `next` bytes behind the first; else next is not
// used
//   F load_panels_f32, load_panels_f16, load_panels_bf16 (const uint8_t*, next)   8 rows of each panel
//   F load_panels_i8 (const uint8_t*, next)   the same, of int8
//   F load_panels_e8(const uint8_t*, next)    2^(e - 127) of 8 bytes e: 2^-127 for 0, infinite for 255
//   Bytes load_panels(const uint8_t*, next)   32 bytes of each panel
//   Bytes field<shift>(Bytes w, int mask)     each byte shifted to the right (to the left if the shift
//                                             is negative), then masked; the mask fits the shift
//   Bytes or_bytes(Bytes a, Bytes b)
//   Bytes load_table(const int8_t[16]); Bytes lookup(table, Bytes index)   index from 0 to 15
//   Bytes broadcast(const int8_t* four)       four columns of a prepared row in every lane
//   SumU begin_u(I start), dot_u(SumU, Bytes w, Bytes x)   w from 0 to 63, x from -127 to 127; the largest
//                                                          w of all calls add up to kMostU at most
//   I total(SumU, I start)                    the products plus start, which is what begin_u got
//   I scaled(SumU, I factors)                 start was 0; factors: of pairs, below
//   Bytes biased(Bytes w)                     w from -128 to 127, made what dot_s8 takes: kBias more
//   SumS8 begin_s8(I start), dot_s8(SumS8, Bytes biased, Bytes x), I total(SumS8, I start)
//                                             the same, at most 8 times; who calls takes kBias x off
// Pairs: an I whose lanes hold two int16, of the first and of the second 16 columns of a part
//   I two_i16(const int16_t*)                 in every lane; I set_pair(int16_t): the same one twice
//   I load_pairs_i8(const uint8_t*, next)     16 int8 of each panel, two for each row
//   I pair_field<shift>(I pairs, int mask)    as field, of each int16
//   I dot_pairs(I a, I b)                     first * first + second * second, int32
//   I first_factors(I pairs), second_factors(I pairs)   what scaled() multiplies by
#pragma once

#include <cstdint>
#include <utility>

#define COLIBRI_INLINE __attribute__((always_inline)) inline
#define COLIBRI_INLINE_LAMBDA __attribute__((always_inline))
// Loops over registers of a tile must disappear.
#define COLIBRI_UNROLL _Pragma("GCC unroll 16")

namespace colibri::cpu {

// Asks for the line at p, so that it is on its way to the second-level cache, where the processor would
// not ask for it in time by itself. Nothing is read, so the line may not exist.
COLIBRI_INLINE void ask_for_line(const void* p) {
  __builtin_prefetch(p, 0, 2);
}

// body(0), body(1), ... with numbers that are constants to the compiler.
template <int count, class Body>
COLIBRI_INLINE void for_constants(Body body) {
  [&]<int... i>(std::integer_sequence<int, i...>) COLIBRI_INLINE_LAMBDA {
    (body(std::integral_constant<int, i>()), ...);
  }
  (std::make_integer_sequence<int, count>());
}

// body(n) with n, from 1 to 4, as a constant to the compiler.
template <class Body>
COLIBRI_INLINE void with_count(int64_t n, Body body) {
  switch (n) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    default:
      return body(std::integral_constant<int, 4>());
  }
}

}  // namespace colibri::cpu
