// SPDX-License-Identifier: Apache-2.0
// Sizes of the R8 layout (kernels.h).
#pragma once

#include <cstdint>

#include "runtime/base/codec_facts.h"

namespace colibri {

constexpr int64_t kR8Rows = 8;  // of a panel

// Bytes of a matrix in R8; cols is a multiple of the codec's block.
inline uint64_t r8_bytes(const CodecFacts& codec, int64_t rows, int64_t cols) {
  const auto panels = static_cast<uint64_t>((rows + kR8Rows - 1) / kR8Rows);
  return panels * static_cast<uint64_t>(kR8Rows * (cols / codec.elements) * codec.bytes);
}

}  // namespace colibri
