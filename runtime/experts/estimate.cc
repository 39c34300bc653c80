// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/estimate.h"

#include <algorithm>

namespace colibri::experts {

double decode_rate(const DecodeCost& cost, double hit_rate) {
  const double missing = 1 - hit_rate;
  const double loading = missing * static_cast<double>(cost.experts) * cost.load_seconds;
  const double seconds = cost.dense_seconds + std::max(loading, hit_rate * cost.expert_seconds) +
                         missing * cost.expert_seconds;
  return 1 / seconds;
}

HitRange expected_hits(double room) {
  double absent = 1;
  for (int i = 0; i < 6; ++i) absent *= 1 - room;
  return {room, 1 - absent};
}

}  // namespace colibri::experts
