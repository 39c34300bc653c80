// SPDX-License-Identifier: Apache-2.0
// Replays of a route trace: what the expert store would have hit with other policies and budgets.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/experts/estimate.h"
#include "runtime/experts/residency.h"
#include "runtime/experts/route_trace.h"

namespace colibri::experts {

// How the slots of a budget are used, and what came of it.
struct ReplayResult {
  uint64_t ruled = 0;    // slots that the policy rules: all but the passage
  bool guarded = false;  // fewer than a token needs experts
  Counters counters;
  MissCounts decode_misses;  // of visits of a single token
};

// Drives the store's own Residency: with one context and without prefetch, the counters of a live
// run with as many slots are exactly these. slots: from 2 to all experts.
Result<ReplayResult> replay(const RouteTrace& trace, uint64_t slots, PolicyPlugin policy);

struct OptimalHits {
  uint64_t all = 0;
  MissCounts decode_misses;  // of visits of a single token
};
// The most hits that any policy can have that keeps `ruled` experts between visits and may let an
// expert pass: after each visit, of the residents and the experts just used those stay that are
// used again soonest (Belady 1966, "A study of replacement algorithms for a virtual-storage
// computer"; with bypass). O(n log n).
OptimalHits belady_hits(const RouteTrace& trace, uint64_t ruled);

}  // namespace colibri::experts
