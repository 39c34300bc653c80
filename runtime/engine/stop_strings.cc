// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/stop_strings.h"

#include <algorithm>
#include <utility>

namespace colibri::engine {
namespace {

// More than a token's text and a stop string ever are.
constexpr size_t kReserved = 16384;

// Length of the longest end of `text` that is a proper beginning of `string`.
size_t begun(std::string_view text, std::string_view string) {
  for (size_t n = std::min(text.size(), string.size() - 1); n > 0; --n) {
    if (text.substr(text.size() - n) == string.substr(0, n)) return n;
  }
  return 0;
}

}  // namespace

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
  held_.reserve(kReserved);
}

std::string_view StopStrings::push(std::string_view text) {
  held_.erase(0, std::exchange(given_, 0));
  if (stopped_) return {};
  held_ += text;
  size_t stop = std::string::npos;
  size_t hold = 0;
  for (const std::string& string : strings_) {
    stop = std::min(stop, held_.find(string));
    hold = std::max(hold, begun(held_, string));
  }
  if (stop != std::string::npos) {
    stopped_ = true;
    held_.resize(stop);
    hold = 0;
  }
  given_ = held_.size() - hold;
  return std::string_view(held_).substr(0, given_);
}

std::string_view StopStrings::finish() {
  held_.erase(0, std::exchange(given_, 0));
  given_ = held_.size();
  return held_;
}

void StopStrings::reset() {
  held_.clear();
  given_ = 0;
  stopped_ = false;
}

}  // namespace colibri::engine
