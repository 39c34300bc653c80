// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/limits.h"

#include <algorithm>

#include "runtime/machine/bandwidth.h"

namespace colibri::bench {
namespace {

// Far more than caches hold: with less, a part is still there from the pass before.
constexpr uint64_t kMostProbed = 512u << 20;

}  // namespace

Status Limits::measure(ThreadPool& pool, uint64_t bytes, const machine::Profile& profile) {
  const unsigned threads = pool.threads();
  // Not what the expert store has left for others.
  COLIBRI_ASSIGN(const machine::Profile now_free, machine::Profile::detect());
  const uint64_t probed = std::min({bytes, kMostProbed, now_free.memory_available / 4});
  COLIBRI_ASSIGN(const double speed, machine::measure_read_bandwidth(pool, threads, probed));
  read = std::max(read, speed);
  const auto now = machine::measure_compute_rates(pool, threads, profile.cpu_features);
  rates.int8 = std::max(rates.int8, now.int8);
  rates.f32 = std::max(rates.f32, now.f32);
  return {};
}

Fractions Fractions::of(const Work& work, double seconds, const Limits& limits) {
  if (seconds <= 0) return {};
  return {work.bytes / seconds / limits.read, work.int8 / seconds / limits.rates.int8,
          work.f32 / seconds / limits.rates.f32};
}

}  // namespace colibri::bench
