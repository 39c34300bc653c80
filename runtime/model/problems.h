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
    if (++count_ <= kShown) lines_ += (count_ > 1 ? "\n" : "") + text;
  }

  // COLIBRI_CORRUPT_DATA with one problem a line; ok if there is none.
  Status status() const {
    if (empty()) return {};
    if (count_ <= kShown) return corrupt_data(lines_);
    return corrupt_data(lines_ + "\nand " + std::to_string(count_ - kShown) + " more problems");
  }

 private:
  size_t count_ = 0;
  std::string lines_;
};

}  // namespace colibri::model
