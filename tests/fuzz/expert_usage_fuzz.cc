// SPDX-License-Identifier: Apache-2.0
// The hot list of the cache policy pinned.
#include <cstdint>
#include <string_view>

#include "plugins/cache_policies/pinned/usage_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace colibri;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(
      cache_policies::UsageList(text).read(2, 8, [](uint32_t layer, uint32_t expert) -> Status {
        if (layer >= 2 || expert >= 8) __builtin_trap();  // the reader's promise
        return {};
      }));
  return 0;
}
