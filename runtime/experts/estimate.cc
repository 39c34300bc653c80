// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/estimate.h"

#include <algorithm>
#include <numeric>

namespace colibri::experts {

namespace {

double power(double base, uint32_t exponent) {
  double product = 1;
  for (uint32_t i = 0; i < exponent; ++i) product *= base;
  return product;
}

double layer_seconds(const DecodeCost& cost, uint32_t misses) {
  const double compute = cost.expert_seconds / (double{1} * cost.layers * cost.top_k);
  double now = (cost.top_k - misses) * compute;
  for (uint32_t i = 0; i < misses; ++i) {
    const double arrived = cost.first_load_seconds + i * cost.load_seconds;
    now = std::max(now, arrived) + cost.check_seconds + compute;
  }
  return now;
}

}  // namespace

double hit_rate(const MissCounts& misses) {
  uint64_t layers = 0, missed = 0;
  for (size_t i = 0; i < misses.size(); ++i) {
    layers += misses[i];
    missed += i * misses[i];
  }
  const auto asked = static_cast<double>(layers * (misses.size() - 1));
  return 1 - static_cast<double>(missed) / asked;
}

double decode_rate(const DecodeCost& cost, const MissCounts& misses) {
  const uint64_t layers = std::accumulate(misses.begin(), misses.end(), uint64_t{0});
  double layer = 0;
  for (uint32_t i = 0; i < misses.size(); ++i) {
    // A share first: of layers that all have their experts it is exactly 1, and the rate that of
    // a model in memory to the last bit.
    const double share = static_cast<double>(misses[i]) / static_cast<double>(layers);
    layer += share * layer_seconds(cost, i);
  }
  return 1 / (cost.dense_seconds + cost.layers * layer);
}

double decode_rate(const DecodeCost& cost, double hit_rate) {
  if (cost.layers == 0) return 1 / cost.dense_seconds;
  // How many of a layer's experts miss is binomially distributed.
  double layer = 0;
  double ways = 1;
  for (uint32_t misses = 0; misses <= cost.top_k; ++misses) {
    const uint32_t hits = cost.top_k - misses;
    layer +=
        ways * power(hit_rate, hits) * power(1 - hit_rate, misses) * layer_seconds(cost, misses);
    ways = ways * hits / (misses + 1);
  }
  return 1 / (cost.dense_seconds + cost.layers * layer);
}

HitRange expected_hits(double room) {
  return {room, 1 - power(1 - room, 6)};
}

}  // namespace colibri::experts
