// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/pieces.h"

#include <algorithm>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

void append(Range range, std::vector<Range>& pieces) {
  if (range.begin < range.end) pieces.push_back(range);
}

}  // namespace

Result<Behavior> behavior_named(std::string_view name) {
  if (name == "Removed") return Behavior::kRemoved;
  if (name == "Isolated") return Behavior::kIsolated;
  if (name == "MergedWithPrevious") return Behavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return Behavior::kMergedWithNext;
  if (name == "Contiguous") return Behavior::kContiguous;
  return unsupported(
      "behavior " + utf8::printable(name) +
      " is none of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
}

void append_pieces(const std::vector<Part>& parts, Behavior behavior, std::vector<Range>& pieces) {
  const auto merge = [&](size_t i, bool same_as_before, Range& open) {
    if (i > 0 && same_as_before) {
      open = {std::min(open.begin, parts[i].range.begin), std::max(open.end, parts[i].range.end)};
    } else {
      append(open, pieces);
      open = parts[i].range;
    }
  };
  Range open{0, 0};
  switch (behavior) {
    case Behavior::kRemoved:
    case Behavior::kIsolated:
      for (const Part& part : parts) {
        if (behavior == Behavior::kIsolated || !part.delimiter) append(part.range, pieces);
      }
      return;
    case Behavior::kContiguous:
      for (size_t i = 0; i < parts.size(); ++i) {
        merge(i, i > 0 && parts[i].delimiter == parts[i - 1].delimiter, open);
      }
      break;
    case Behavior::kMergedWithPrevious:
      for (size_t i = 0; i < parts.size(); ++i) {
        merge(i, i > 0 && parts[i].delimiter && !parts[i - 1].delimiter, open);
      }
      break;
    case Behavior::kMergedWithNext:
      for (size_t i = 0; i < parts.size(); ++i) {
        merge(i, i > 0 && parts[i - 1].delimiter && !parts[i].delimiter, open);
      }
      break;
  }
  append(open, pieces);
}

}  // namespace colibri::tokenizers
