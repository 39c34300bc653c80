// SPDX-License-Identifier: Apache-2.0
// A route trace, and a replay of what could be read.
#include <cstdint>
#include <string_view>

#include "runtime/experts/replay.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace colibri::experts;
  const auto trace = parse_route_trace({reinterpret_cast<const char*>(data), size}, "trace");
  if (!trace.ok()) return 0;
  for (const RouteTrace::Visit& visit : trace->visits) {
    if (visit.layer >= trace->shape.layers || visit.begin >= visit.end) __builtin_trap();
    int32_t previous = -1;
    for (const int32_t expert : trace->experts_of(visit)) {
      if (expert <= previous || expert >= static_cast<int32_t>(trace->shape.experts)) {
        __builtin_trap();
      }
      previous = expert;
    }
  }
  if (trace->shape.keys() < 1 << 16) static_cast<void>(belady_hits(*trace, 3).all);
  return 0;
}
