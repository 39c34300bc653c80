// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace colibri {

uint64_t checksum(std::string_view bytes) {
  const uint64_t sum = XXH3_64bits(bytes.data(), bytes.size());
  return sum == 0 ? 1 : sum;
}

}  // namespace colibri
