// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/ascii_matcher.h"

#include <bit>

#include "plugins/tokenizers/common/ascii_compiler.h"

namespace colibri::tokenizers {
namespace {

// Of one search. Patterns that need more have their own limits.
constexpr size_t kMaxSteps = 1 << 20;

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

}  // namespace

std::optional<AsciiMatcher> AsciiMatcher::compile(const std::string& pattern) {
  return AsciiCompiler(pattern).compile();
}

AsciiMatcher::Answer AsciiMatcher::find(std::string_view text, size_t from) const {
  Run run{text};
  for (size_t at = from; at < text.size(); ++at) {
    if (!is_ascii(text[at])) return {Outcome::kAsk, at, 0};
    if (!first_[static_cast<size_t>(text[at])]) continue;
    const bool found = match(root_, at, run);
    if (run.asks) return {Outcome::kAsk, at, 0};
    if (found) return {Outcome::kFound, at, run.end};
  }
  // An empty match at the very end is for the pattern to say.
  return {first_.all() ? Outcome::kAsk : Outcome::kNone, text.size(), 0};
}

// As deep as there are nodes: repetitions are of single characters and loop here.
bool AsciiMatcher::match(int32_t index, size_t at, Run& run) const {
  for (;;) {
    if (++run.steps > kMaxSteps) {
      run.asks = true;
      return false;
    }
    const Node& node = nodes_[static_cast<size_t>(index)];
    switch (node.kind) {
      case Node::Kind::kAccept:
        run.end = at;
        return true;
      case Node::Kind::kRun: {
        size_t stop = at;
        const size_t limit = node.most < run.text.size() - at ? at + node.most : run.text.size();
        while (stop < limit) {
          const char c = run.text[stop];
          if (!is_ascii(c)) {
            run.asks = true;
            return false;
          }
          if (!node.set[static_cast<size_t>(c)]) break;
          ++stop;
        }
        if (stop - at < node.least) return false;
        if (!node.flag) {  // the longest first, the shortest in the next round of the loop
          for (; stop - at > node.least; --stop) {
            if (match(node.next, stop, run)) return true;
            if (run.asks) return false;
          }
        }
        at = stop;
        index = node.next;
        break;
      }
      case Node::Kind::kBranches: {
        uint64_t left = ~uint64_t{0} >> (kMaxBranches - node.nodes.size());
        if (at < run.text.size() && is_ascii(run.text[at])) {
          left = node.viable[static_cast<size_t>(run.text[at])];
        }
        if (left == 0) return false;
        for (; (left & (left - 1)) != 0; left &= left - 1) {
          if (match(node.nodes[static_cast<size_t>(std::countr_zero(left))], at, run)) return true;
          if (run.asks) return false;
        }
        index = node.nodes[static_cast<size_t>(std::countr_zero(left))];  // the last one
        break;
      }
      case Node::Kind::kLook: {
        const bool found = match(node.nodes[0], at, run);
        if (run.asks || found == node.flag) return false;
        index = node.next;
        break;
      }
    }
  }
}

AsciiMatcher::Set AsciiMatcher::first_of(int32_t index) const {
  const Node& node = nodes_[static_cast<size_t>(index)];
  Set set;
  switch (node.kind) {
    case Node::Kind::kAccept:
      return set.set();
    case Node::Kind::kRun:
      return node.least > 0 ? node.set : node.set | first_of(node.next);
    case Node::Kind::kBranches:
      for (size_t c = 0; c < set.size(); ++c) set[c] = node.viable[c] != 0;
      return set;
    case Node::Kind::kLook:
      return first_of(node.next);
  }
  return set.set();
}

}  // namespace colibri::tokenizers
