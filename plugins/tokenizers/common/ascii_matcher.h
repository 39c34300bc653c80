// SPDX-License-Identifier: Apache-2.0
// A quick way through ASCII for the patterns of pre-tokenizers, which are alternatives of runs of
// character classes. Where another character would have a say, the pattern itself is asked; so the
// matches are the same.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri::tokenizers {

class AsciiMatcher {
 public:
  // From a pattern of pattern.h. Nothing if it holds more than alternatives, groups, sets, greedy
  // and possessive repetitions of sets, optional groups and lookaheads.
  static std::optional<AsciiMatcher> compile(const std::string& pattern);

  enum class Outcome { kFound, kNone, kAsk };
  struct Answer {
    Outcome outcome;
    size_t begin, end;  // kFound: of the match; kAsk: no match begins before `begin`
  };
  // The first match at or behind `from`. Thread-safe.
  Answer find(std::string_view text, size_t from) const;

 private:
  friend class AsciiCompiler;
  using Set = std::bitset<128>;
  struct Node {
    enum class Kind : uint8_t { kAccept, kRun, kBranches, kLook };
    Kind kind;
    bool flag = false;  // kRun: possessive; kLook: negative
    uint32_t least = 1, most = 1;
    Set set;                     // kRun
    int32_t next = -1;           // kRun, kLook
    std::vector<int32_t> nodes;  // kBranches: their beginnings; kLook: its one
    // kBranches: by the next character, a bit for each of `nodes` that may begin with it.
    std::vector<uint64_t> viable;
  };
  static constexpr size_t kMaxBranches = 64;
  struct Run {
    std::string_view text;
    size_t end = 0;     // of the match
    size_t steps = 0;   // so far
    bool asks = false;  // a character is not ASCII, or there were too many steps
  };
  // A match of text[at...) from a node on; false if there is none or it asks.
  bool match(int32_t node, size_t at, Run& run) const;
  Set first_of(int32_t node) const;

  std::vector<Node> nodes_;
  int32_t root_ = -1;
  Set first_;  // what a match may begin with
};

}  // namespace colibri::tokenizers
