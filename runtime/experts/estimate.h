// SPDX-License-Identifier: Apache-2.0
// How fast a model decodes when experts come from the disk: arithmetic on measured times.
#pragma once

#include <cstdint>
#include <vector>

namespace colibri::experts {

// What decoding a token takes on a machine. Times are those of all threads together.
struct DecodeCost {
  double dense_seconds = 0;        // all but the experts
  double expert_seconds = 0;       // computing all experts of a token
  double first_load_seconds = 0;   // until a missing expert is there that is read alone
  double load_seconds = 0;         // from one to the next when several are read
  double check_seconds = 0;        // what threads that compute do to one that arrived
  uint32_t layers = 0, top_k = 0;  // with experts; experts of a token in each
};

// Of the layers that single tokens went through, those of whose experts none, one, two, ... were
// missing: [top_k + 1].
using MissCounts = std::vector<uint64_t>;
double hit_rate(const MissCounts& misses);

// Tokens per second. In each layer the experts that are there compute while the missing ones load;
// each of these computes when it and those before it have arrived.
double decode_rate(const DecodeCost& cost, const MissCounts& misses);
// The same if that share of the experts that tokens ask for is in memory, each with the same chance.
double decode_rate(const DecodeCost& cost, double hit_rate);

struct HitRange {
  double least = 0, most = 0;
};
// Hit rates to expect where no route trace tells them, with room for that share of all experts: at
// least that share, as if tokens chose evenly and independently; at most what the stickiest
// published traces reach (Qwen3-30B-A3B: 53 % with room for 12 %, 76 % for 22 %), 1 - (1 - room)^6.
HitRange expected_hits(double room);

}  // namespace colibri::experts
