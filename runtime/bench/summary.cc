// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/summary.h"

#include <algorithm>
#include <cmath>

namespace colibri::bench {

double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

Spread spread(const std::vector<double>& values) {
  return {percentile(values, 50), percentile(values, 0), percentile(values, 100)};
}

}  // namespace colibri::bench
