// SPDX-License-Identifier: Apache-2.0
// How many experts there are and how many of them a token needs.
#pragma once

#include <cstdint>

namespace colibri::experts {

struct RoutingShape {
  uint32_t layers = 0, experts = 0, top_k = 0;  // experts per layer; top_k of them per token

  // key = layer * experts + expert
  uint64_t keys() const { return uint64_t{layers} * experts; }
  uint64_t working_set() const { return uint64_t{layers} * top_k; }  // experts that a token needs
};

}  // namespace colibri::experts
