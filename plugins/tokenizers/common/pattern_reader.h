// SPDX-License-Identifier: Apache-2.0
// A place in a pattern that is being read.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {

// Neither groups nor sets may be nested deeper.
constexpr int kMaxPatternDepth = 32;

class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : pattern_(pattern) {}

  bool more() const { return at_ < pattern_.size(); }
  size_t offset() const { return at_; }
  char peek() const { return pattern_[at_]; }  // more() is true
  char next() { return pattern_[at_++]; }
  bool at(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  bool take(std::string_view text) {
    if (!at(text)) return false;
    at_ += text.size();
    return true;
  }
  // Takes what stands before the next `end`, and `end` itself; nothing if there is none.
  std::string_view take_until(char end) {
    const size_t found = pattern_.find(end, at_);
    if (found == std::string_view::npos) return {};
    const std::string_view text = pattern_.substr(at_, found - at_);
    at_ = found + 1;
    return text;
  }

  struct Character {
    char32_t code_point;
    std::string_view utf8;
  };
  Character take_character() {
    const utf8::Character c = utf8::decode(pattern_, at_);
    at_ += c.size;
    return {c.code_point, pattern_.substr(at_ - c.size, c.size)};
  }

  // COLIBRI_UNSUPPORTED: "the pattern ... has <what> at byte ...".
  Status refuse(const std::string& what) const {
    return unsupported("the pattern " + utf8::printable(pattern_) + " has " + what + " at byte " +
                       std::to_string(at_) + ", which this plugin cannot match exactly");
  }

  bool caseless = false;  // inside of (?i...)

 private:
  std::string_view pattern_;
  size_t at_ = 0;
};

}  // namespace colibri::tokenizers
