// SPDX-License-Identifier: Apache-2.0
// A strip of a weight unpacked for many tokens: some parts of 32 columns of P panel vectors, their
// integers as bytes and their scales as floats. Unpacking is done once for all tokens, and the strip
// and the tokens it meets stay in the first cache.
#pragma once

#include <cstdint>

#include "plugins/cpu_common/codec_parts.h"
#include "plugins/cpu_common/part_dots.h"
#include "plugins/cpu_common/simd.h"

namespace colibri::cpu {

// What of a codec is left in a strip; codecs that agree in this share the code that reads it.
struct StripKind {
  enum class Dots { kSigned, kUnsigned, kScaled } dots;  // as in part_dots.h
  Offset offset;
  int length;  // groups of columns that one SumU takes

  bool operator==(const StripKind&) const = default;
};

template <class S, class Codec>
constexpr StripKind strip_kind() {
  using Dots = StripKind::Dots;
  if constexpr (Codec::kSigned) {
    return {Dots::kSigned, Codec::kOffset, 8};
  } else {
    constexpr int kLength = sum_length(S::kMostU, Codec::kMost);
    if constexpr (HalfScaled<Codec, S>)
      return {Dots::kScaled, Codec::kOffset, kLength < 4 ? kLength : 4};
    return {Dots::kUnsigned, Codec::kOffset, kLength};
  }
}

// What only some kinds have.
template <class S, StripKind kind, int P>
struct StripOffsets {};
template <class S, StripKind kind, int P>
requires(kind.offset != Offset::kNone) struct StripOffsets<S, kind, P> {
  typename S::F offset[P];
};
template <class S, StripKind kind, int P>
struct StripFactors {};
template <class S, StripKind kind, int P>
requires(kind.dots == StripKind::Dots::kScaled) struct StripFactors<S, kind, P> {
  typename S::I first[P], second[P];  // factors of the halves, as S::scaled() takes them
  typename S::I less[P];              // pairs: what each sum of x takes off the dot
  typename S::I halves[P];            // Scales::halves
};

template <class S, StripKind kind, int P>
struct StripPart : StripOffsets<S, kind, P>, StripFactors<S, kind, P> {
  typename S::Bytes columns[8][P];
  typename S::F scale[P];
};

// Part of the panel vectors `at`.
template <class Codec, class S, StripKind kind, int P>
COLIBRI_INLINE void unpack_part(const Head<S> (&head)[P], const uint8_t* const (&at)[P],
                                int64_t next, StripPart<S, kind, P>& to) {
  COLIBRI_UNROLL
  for (int p = 0; p < P; ++p) {
    for_constants<8>([&](auto i) COLIBRI_INLINE_LAMBDA {
      constexpr int c = interleaved(i);
      const typename S::Bytes w = Codec::template columns<S, c>(at[p], next);
      to.columns[c][p] = Codec::kSigned ? S::biased(w) : w;
    });
    const Scales<S> scales = Codec::template scales<S>(head[p], at[p], next);
    to.scale[p] = scales.scale;
    if constexpr (kind.offset != Offset::kNone) to.offset[p] = scales.offset;
    if constexpr (kind.dots == StripKind::Dots::kScaled) {
      const typename S::I factors = Codec::template factors<S>(at[p], next);
      to.first[p] = S::first_factors(factors);
      to.second[p] = S::second_factors(factors);
      to.less[p] = less_pairs<Codec, S>(factors);
      to.halves[p] = scales.halves;
    }
  }
}

// `parts` parts, whole blocks, from `w` on; w then points behind them.
template <class Codec, class S, StripKind kind, int P>
void unpack_strip(const uint8_t* (&w)[P], int64_t next, int64_t parts, StripPart<S, kind, P>* to) {
  for (int64_t block = 0; block < parts / Codec::kBlock.parts(); ++block) {
    Head<S> head[P];
    COLIBRI_UNROLL
    for (int p = 0; p < P; ++p) {
      head[p] = Codec::template head<S>(w[p], next);
      w[p] += Codec::kBlock.head;
    }
    for (int64_t part = 0; part < Codec::kBlock.parts(); ++part, ++to) {
      unpack_part<Codec, S, kind, P>(head, w, next, *to);
      COLIBRI_UNROLL
      for (int p = 0; p < P; ++p) w[p] += Codec::kBlock.part;
    }
  }
}

}  // namespace colibri::cpu
