// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/statistics.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/base/memory.h"
#include "runtime/machine/bandwidth.h"
#include "runtime/machine/process_memory.h"

namespace colibri::cli {
namespace {

// More than caches hold, and quickly read.
constexpr uint64_t kMostProbed = 128u << 20;

double rate(double n, double seconds) {
  return seconds > 0 ? n / seconds : 0;
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double prefill_rate(const engine::GenerateResult& r) {
  return rate(r.prompt_tokens, r.prefill_seconds);
}
// The first token's logits come with the prompt: decoding makes the others.
double decode_rate(const engine::GenerateResult& r) {
  return r.generated_tokens > 1 ? rate(r.generated_tokens - 1, r.decode_seconds) : 0;
}

// 0 if it could not be measured: a run that went well does not fail for want of a figure.
double measured_decode_limit(const engine::Plan& plan) {
  const uint64_t bytes = plan.bytes_per_token();
  const auto pool = ThreadPool::create(plan.threads);
  if (!pool.ok() || bytes == 0) return 0;
  const auto speed =
      machine::measure_read_bandwidth(**pool, plan.threads, std::min(bytes, kMostProbed));
  return speed.ok() ? *speed / static_cast<double>(bytes) : 0;
}

}  // namespace

Statistics Statistics::of(const engine::GenerateResult& result, const engine::Model& model) {
  Statistics made;
  made.result = result;
  if (const experts::Store* store = model.store(); store != nullptr) {
    const experts::Counters counters = store->counters();
    const uint64_t reads = counters.loads + counters.ahead - counters.ahead_used;
    made.experts = {counters, store->times(), reads * store->shape().slot_bytes};
  }
  if (model.tier() != nullptr) {
    made.on_device = {model.plan().device->name(), model.tier()->counters()};
  }
  made.peak_memory =
      machine::peak_resident_bytes();  // before the measurement takes memory of its own
  if (result.generated_tokens > 1) made.decode_limit = measured_decode_limit(model.plan());
  return made;
}

std::string Statistics::line() const {
  char text[512];
  std::snprintf(text, sizeof(text),
                "%u tokens (%s) | prompt %u tokens, %.1f tokens/s | decode %.1f tokens/s",
                result.generated_tokens, stop_reason_name(result.stop), result.prompt_tokens,
                prefill_rate(result), decode_rate(result));
  std::string line = text;
  if (decode_limit > 0) {
    std::snprintf(text, sizeof(text), " (%.0f %% of what reading the weights allows)",
                  100 * decode_rate(result) / decode_limit);
    line += text;
  }
  std::snprintf(text, sizeof(text), " | first token %.0f ms | peak memory %s",
                result.first_token_seconds * 1000, human_bytes(peak_memory).c_str());
  line += text;
  if (experts) {
    const experts::Counters& counters = experts->counters;
    const double visits = static_cast<double>(counters.hits + counters.misses);
    std::snprintf(text, sizeof(text), " | expert hits %.1f %%",
                  visits == 0 ? 100 : 100 * static_cast<double>(counters.hits) / visits);
    line += text;
    if (on_device) {
      const double all = static_cast<double>(on_device->counters.hits + on_device->counters.misses);
      std::snprintf(text, sizeof(text), " of those not on %s, which had %.1f %%",
                    on_device->name.c_str(),
                    all == 0 ? 100 : 100 * static_cast<double>(on_device->counters.hits) / all);
      line += text;
    }
    if (counters.loads > 0) {
      std::snprintf(text, sizeof(text), ", %s read, waited %.0f ms",
                    human_bytes(experts->bytes).c_str(), 1000 * seconds(experts->times.waiting));
      line += text;
    }
    if (counters.ahead > 0) {
      std::snprintf(
          text, sizeof(text), ", used %.0f %% of %.0f read ahead",
          100 * static_cast<double>(counters.ahead_used) / static_cast<double>(counters.ahead),
          static_cast<double>(counters.ahead));
      line += text;
    }
  }
  return line;
}

nlohmann::ordered_json Statistics::json() const {
  const auto [counters, times, bytes] = experts.value_or(Experts());
  const experts::Counters there = on_device.value_or(OnDevice()).counters;
  return {{"stop", stop_reason_name(result.stop)},
          {"prompt_tokens", result.prompt_tokens},
          {"generated_tokens", result.generated_tokens},
          {"prefill_tokens_per_second", prefill_rate(result)},
          {"decode_tokens_per_second", decode_rate(result)},
          {"decode_limit_tokens_per_second", decode_limit},
          {"first_token_seconds", result.first_token_seconds},
          {"peak_memory_bytes", peak_memory},
          {"device_expert_hits", there.hits},
          {"device_expert_misses", there.misses},
          {"device_experts_copied", there.loads},
          {"expert_hits", counters.hits},
          {"expert_misses", counters.misses},
          {"expert_bytes_loaded", bytes},
          {"experts_read_ahead", counters.ahead},
          {"experts_read_ahead_used", counters.ahead_used},
          {"expert_wait_seconds", seconds(times.waiting)},
          {"expert_lease_seconds", seconds(times.leasing)}};
}

}  // namespace colibri::cli
