// SPDX-License-Identifier: Apache-2.0
// A text cut into pieces, and the ways in which a delimiter cuts it further.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace colibri::tokenizers {

struct Range {
  size_t begin, end;  // bytes
};

// Pieces may leave out parts of the text; none is empty.
struct Pieces {
  std::string_view text;
  std::string own;  // the text, unless it is that of the caller
  std::vector<Range> ranges;
  bool at_start = false;  // text[0] begins the whole input

  std::string_view at(Range range) const {
    return text.substr(range.begin, range.end - range.begin);
  }
};

// What becomes of the places where a delimiter matches.
enum class Behavior {
  kRemoved,             // left out
  kIsolated,            // each a piece
  kMergedWithPrevious,  // the end of the piece before
  kMergedWithNext,      // the beginning of the piece behind
  kContiguous           // neighbouring ones are one piece
};

Result<Behavior> behavior_named(std::string_view name);

// A part of a piece: a delimiter, or what stands between two of them.
struct Part {
  Range range;
  bool delimiter;
};

// Appends the pieces that the parts of one piece make, in order. Merging looks only at whether the
// part before was a delimiter, so that of several delimiters in a row just the first joins its
// neighbour.
void append_pieces(const std::vector<Part>& parts, Behavior behavior, std::vector<Range>& pieces);

}  // namespace colibri::tokenizers
