// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/usage.h"

#include <algorithm>
#include <vector>

namespace colibri::experts {

std::string usage_text(const RoutingShape& shape, std::span<const uint64_t> uses) {
  std::vector<uint32_t> keys;
  for (uint32_t key = 0; key < uses.size(); ++key) {
    if (uses[key] > 0) keys.push_back(key);
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [&](uint32_t a, uint32_t b) { return uses[a] > uses[b]; });
  std::string text = "colibri-expert-usage 1\nlayers " + std::to_string(shape.layers) +
                     "\nexperts " + std::to_string(shape.experts) + "\n";
  for (const uint32_t key : keys) {
    text += std::to_string(key / shape.experts) + " " + std::to_string(key % shape.experts) + " " +
            std::to_string(uses[key]) + "\n";
  }
  return text;
}

}  // namespace colibri::experts
