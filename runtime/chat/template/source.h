// SPDX-License-Identifier: Apache-2.0
// The text of a template, and where in it something stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace colibri::chat {

constexpr size_t kMostSourceBytes = 1u << 20;

class Source {
 public:
  // Line ends become \n, and one at the end of the text is dropped, as Jinja does it. Fails for
  // text that is not UTF-8 or longer than kMostSourceBytes. `name` is what messages call it.
  static Result<Source> make(std::string name, std::string_view text);

  std::string_view text() const { return text_; }
  // "name:3:7": line and column, in characters, of a byte.
  std::string place(size_t at) const;
  Status error(size_t at, const std::string& what) const {
    return invalid_argument(place(at) + ": " + what);
  }

 private:
  std::string name_, text_;
};

}  // namespace colibri::chat
