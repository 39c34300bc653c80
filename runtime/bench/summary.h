// SPDX-License-Identifier: Apache-2.0
// Repeated measurements in a few numbers.
#pragma once

#include <vector>

namespace colibri::bench {

// The value that `percent` of the values do not exceed (nearest rank), 0 <= percent <= 100; 0 if
// there are none.
double percentile(std::vector<double> values, double percent);

struct Spread {
  double median = 0, least = 0, most = 0;
};
Spread spread(const std::vector<double>& values);

}  // namespace colibri::bench
