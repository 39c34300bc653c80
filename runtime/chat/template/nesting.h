// SPDX-License-Identifier: Apache-2.0
// Counts how deep a recursion is, so that no input can use up the stack.
#pragma once

namespace colibri::chat {

class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

  bool beyond(int most) const { return depth_ > most; }

 private:
  int& depth_;
};

}  // namespace colibri::chat
