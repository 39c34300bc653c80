// SPDX-License-Identifier: Apache-2.0
// What is wrong with a model: all of it is found before any of it is reported.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "runtime/base/status.h"

namespace colibri::model {

// Keeps the first kShown problems and counts the others, because a hostile model can have millions.
class Problems {
 public:
  static constexpr size_t kShown = 12;

  bool empty() const { return count_ == 0; }

  void add(const std::string& text) {
    if (++count_ <= kShown) lines_ += "\n  " + text;
  }

  // COLIBRI_CORRUPT_DATA with all problems, "path: problem" or one a line; ok if there is none.
  Status status(const std::string& path) const {
    if (empty()) return {};
    if (count_ == 1) return corrupt_data(path + ": " + lines_.substr(3));
    std::string text = path + ": " + std::to_string(count_) + " problems:" + lines_;
    if (count_ > kShown) text += "\n  and " + std::to_string(count_ - kShown) + " more";
    return corrupt_data(std::move(text));
  }

 private:
  size_t count_ = 0;
  std::string lines_;
};

}  // namespace colibri::model
