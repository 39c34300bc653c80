// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace colibri::cpu_generic {

// The order of every sum along a row: number i goes to lane i mod 16, i ascending, and the lanes
// are folded 16 -> 8 -> 4 -> 2 -> 1.
template <class Number>
struct LaneSum {
  Number lane[16] = {};

  void add(int64_t i, Number x) { lane[i % 16] += x; }
  Number total() const {
    Number s[16];
    for (int i = 0; i < 16; ++i) s[i] = lane[i];
    for (int width = 8; width >= 1; width /= 2) {
      for (int i = 0; i < width; ++i) s[i] += s[i + width];
    }
    return s[0];
  }
};

}  // namespace colibri::cpu_generic
