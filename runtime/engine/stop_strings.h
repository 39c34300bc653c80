// SPDX-License-Identifier: Apache-2.0
// Stop strings in streamed text: what may still become one is held back until it is decided.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace colibri::engine {

// Used by one thread. Allocates only when more text is held than ever before.
class StopStrings {
 public:
  // None of the strings is empty.
  explicit StopStrings(std::vector<std::string> strings);

  // Adds text; returns what is now certain to be output, valid until the next call. Once a stop
  // string stood in the text, the earliest one, everything from it on is dropped.
  std::string_view push(std::string_view text);
  // The text ends here: what was held back.
  std::string_view finish();
  bool stopped() const { return stopped_; }
  void reset();

 private:
  std::vector<std::string> strings_;
  std::string held_;
  size_t given_ = 0;  // bytes of held_ that the last call returned
  bool stopped_ = false;
};

}  // namespace colibri::engine
