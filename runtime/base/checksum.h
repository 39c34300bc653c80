// SPDX-License-Identifier: Apache-2.0
// Checksums of weights and sections: XXH3-64, where 0 stands for none, so a sum that is 0 counts as 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace colibri {

uint64_t checksum(std::string_view bytes);
inline uint64_t checksum(const std::byte* bytes, uint64_t n) {
  return checksum({reinterpret_cast<const char*>(bytes), static_cast<size_t>(n)});
}

}  // namespace colibri
