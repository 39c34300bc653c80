// SPDX-License-Identifier: Apache-2.0
// What one rendering may take. Templates and conversations come from strangers: without bounds a
// line of Jinja can loop for ever or fill the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/status.h"

namespace colibri::chat {

struct Limits {
  uint64_t steps = 10'000'000;   // nodes evaluated, and characters handled / 16
  uint64_t memory = 256u << 20;  // bytes of all values made, whether still used or not
  uint64_t output = 64u << 20;   // bytes
  int depth = 400;               // nested evaluations, macro calls included
};

constexpr int kMostValueDepth = 64;  // lists and dicts within each other

// Counts down. The messages have no place: the evaluator knows it.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}

  const Limits& limits() const { return limits_; }
  Status spend(uint64_t steps) {
    steps_ += steps;
    if (steps_ <= limits_.steps) return {};
    return invalid_argument("the template takes more than " + std::to_string(limits_.steps) +
                            " steps: it loops too long");
  }
  // The work of looking at text or items.
  Status spend_on(size_t size) { return spend(1 + size / 16); }
  Status allocate(uint64_t bytes) {
    memory_ = bytes > limits_.memory ? limits_.memory + 1 : memory_ + bytes;
    if (memory_ <= limits_.memory) return {};
    return invalid_argument("the template makes more than " + std::to_string(limits_.memory) +
                            " bytes of values");
  }

 private:
  Limits limits_;
  uint64_t steps_ = 0, memory_ = 0;
};

}  // namespace colibri::chat
