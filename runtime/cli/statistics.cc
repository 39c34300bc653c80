// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/statistics.h"

#include <sys/resource.h>

#include <cstdio>

#include "runtime/base/memory.h"

namespace colibri::cli {
namespace {

uint64_t peak_memory() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

double rate(double n, double seconds) {
  return seconds > 0 ? n / seconds : 0;
}

double prefill_rate(const engine::GenerateResult& r) {
  return rate(r.prompt_tokens, r.prefill_seconds);
}
// The first token's logits come with the prompt: decoding makes the others.
double decode_rate(const engine::GenerateResult& r) {
  return r.generated_tokens > 1 ? rate(r.generated_tokens - 1, r.decode_seconds) : 0;
}
std::string hit_rate(const experts::Store* store) {
  if (store == nullptr) return "";
  const experts::Counters c = store->counters();
  const double visits = static_cast<double>(c.hits + c.misses);
  char text[64];
  std::snprintf(text, sizeof(text), " | expert hits %.1f %%",
                visits == 0 ? 100 : 100 * static_cast<double>(c.hits) / visits);
  return text;
}

}  // namespace

std::string statistics_line(const engine::GenerateResult& r, const experts::Store* store) {
  char text[512];
  std::snprintf(text, sizeof(text),
                "%u tokens (%s) | prompt %u tokens, %.1f tokens/s | decode %.1f tokens/s | first "
                "token %.0f ms | peak memory %s",
                r.generated_tokens, stop_reason_name(r.stop), r.prompt_tokens, prefill_rate(r),
                decode_rate(r), r.first_token_seconds * 1000, human_bytes(peak_memory()).c_str());
  return text + hit_rate(store);
}

nlohmann::ordered_json statistics_json(const engine::GenerateResult& r,
                                       const experts::Store* store) {
  const experts::Counters counters = store == nullptr ? experts::Counters() : store->counters();
  return {{"stop", stop_reason_name(r.stop)},
          {"prompt_tokens", r.prompt_tokens},
          {"generated_tokens", r.generated_tokens},
          {"prefill_tokens_per_second", prefill_rate(r)},
          {"decode_tokens_per_second", decode_rate(r)},
          {"first_token_seconds", r.first_token_seconds},
          {"peak_memory_bytes", peak_memory()},
          {"expert_hits", counters.hits},
          {"expert_misses", counters.misses}};
}

}  // namespace colibri::cli
