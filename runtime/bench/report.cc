// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/report.h"

#include <cstdio>

#include "runtime/base/memory.h"
#include "runtime/model/codecs.h"
#include "runtime/plugin/operator_text.h"

namespace colibri::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLeastShown = 0.0005;  // as 0.1 %; the JSON has all

Fractions prefill_fractions(const Report& report, const Test& test) {
  return Fractions::of(prefill_work(report.model->plan(), test.prompt_tokens),
                       spread(test.prefill_seconds).median, report.limits);
}

Fractions decode_fractions(const Report& report, const Test& test) {
  const double seconds = spread(test.decode_seconds).median;
  const engine::Plan& plan = report.model->plan();
  if (!report.settings.steady) {
    return Fractions::of(decode_work(plan, test.prompt_tokens, test.generate_tokens), seconds,
                         report.limits);
  }
  return Fractions::of(decode_work(plan, test.prompt_tokens, 1), seconds / test.generate_tokens,
                       report.limits);
}

// Of `tokens` tokens in each of these times.
Spread rates(double tokens, const std::vector<double>& seconds) {
  const Spread of = spread(seconds);
  return {tokens / of.median, tokens / of.most, tokens / of.least};
}

Json json_of(const Spread& of) {
  return {{"median", of.median}, {"least", of.least}, {"most", of.most}};
}

Json json_of(const Breakdown& breakdown) {
  Json operators = Json::array();
  for (const Breakdown::Part& part : breakdown.operators) {
    operators.push_back({{"uses", part.what->uses()},
                         {"operator", part.what->description()},
                         {"plugin", part.what->choice().plugin->id()},
                         {"thread_seconds", part.seconds}});
  }
  return {{"threads", breakdown.threads},
          {"seconds", breakdown.seconds},
          {"operators", operators},
          {"waiting_thread_seconds", breakdown.waiting},
          {"host_thread_seconds", breakdown.host},
          {"experts_thread_seconds", breakdown.experts}};
}

double percent(uint64_t part, uint64_t of) {
  return of == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(of);
}

// Of one phase, all repeats together; null if no layer has experts.
Json json_of(const Report& report, const ExpertCounters& of) {
  if (report.model->store() == nullptr) return {};
  const experts::Counters& counters = of.store;
  return {{"device_hits", of.tier.hits},
          {"device_misses", of.tier.misses},
          {"device_copies", of.tier.loads},
          {"hits", counters.hits},
          {"misses", counters.misses},
          {"read_ahead", counters.ahead},
          {"read_ahead_used", counters.ahead_used},
          {"missed_bytes", counters.misses * report.model->plan().memory.slot}};
}

Json percentiles_of(const std::vector<double>& values) {
  return {{"p50", percentile(values, 50)},
          {"p95", percentile(values, 95)},
          {"p99", percentile(values, 99)},
          {"most", percentile(values, 100)}};
}

// Several requests, all repeats together.
struct RequestFigures {
  std::vector<double> seconds, first_token_seconds, request_seconds, token_seconds;
  uint64_t passes = 0;
  Fractions fractions;

  RequestFigures(const Report& report, const Test& test) {
    for (const RequestTimes& times : test.requests) {
      seconds.push_back(times.seconds);
      passes = times.passes;
      for (const auto part : {&RequestTimes::first_token_seconds, &RequestTimes::request_seconds,
                              &RequestTimes::token_seconds}) {
        auto& all = part == &RequestTimes::first_token_seconds ? first_token_seconds
                    : part == &RequestTimes::request_seconds   ? request_seconds
                                                               : token_seconds;
        all.insert(all.end(), (times.*part).begin(), (times.*part).end());
      }
    }
    const engine::Plan& plan = report.model->plan();
    const Work prompt = prefill_work(plan, test.prompt_tokens);
    const Work tokens = decode_work(plan, test.prompt_tokens, test.generate_tokens);
    const auto n = static_cast<double>(report.settings.requests);
    fractions = Fractions::of({0, n * (prompt.int8 + tokens.int8), n * (prompt.f32 + tokens.f32)},
                              spread(seconds).median, report.limits);
  }
};

Json requests_json(const Report& report, const Test& test) {
  const RequestFigures of(report, test);
  const uint32_t n = report.settings.requests;
  const double prompts = static_cast<double>(n) * test.prompt_tokens;
  const double generated = static_cast<double>(n) * test.generate_tokens;
  return {{"prompt_tokens", test.prompt_tokens},
          {"generated_tokens", test.generate_tokens},
          {"requests", n},
          {"passes", of.passes},
          {"tokens_per_second", json_of(rates(prompts + generated, of.seconds))},
          {"generated_tokens_per_second", json_of(rates(generated, of.seconds))},
          {"first_token_seconds", percentiles_of(of.first_token_seconds)},
          {"request_seconds", percentiles_of(of.request_seconds)},
          {"token_seconds", percentiles_of(of.token_seconds)},
          {"int8_fraction", of.fractions.int8},
          {"f32_fraction", of.fractions.f32}};
}

Json json_of(const Report& report, const Test& test) {
  if (report.settings.requests > 1) return requests_json(report, test);
  const Fractions prefill = prefill_fractions(report, test);
  Json json = {{"prompt_tokens", test.prompt_tokens},
               {"generated_tokens", test.generate_tokens},
               {"prefill",
                {{"tokens_per_second", json_of(rates(test.prompt_tokens, test.prefill_seconds))},
                 {"int8_fraction", prefill.int8},
                 {"f32_fraction", prefill.f32},
                 {"experts", json_of(report, test.prefill_experts)}}},
               {"first_token_seconds", json_of(spread(test.first_token_seconds))},
               {"chosen", test.chosen}};
  if (test.prefill) json["prefill"]["breakdown"] = json_of(*test.prefill);
  if (test.generate_tokens == 0) return json;
  const Fractions decode = decode_fractions(report, test);
  json["decode"] = {
      {"tokens_per_second", json_of(rates(test.generate_tokens, test.decode_seconds))},
      {"token_seconds", percentiles_of(test.token_seconds)},
      {"token_cpu_seconds", percentiles_of(test.token_cpu_seconds)},
      {"read_fraction", decode.read},
      {"int8_fraction", decode.int8},
      {"f32_fraction", decode.f32},
      {"experts", json_of(report, test.decode_experts)}};
  if (report.settings.steady) {
    json["decode"]["loop_seconds"] = percentiles_of(test.loop_seconds);
    json["decode"]["loop_cpu_seconds"] = percentiles_of(test.loop_cpu_seconds);
  }
  if (test.decode) json["decode"]["breakdown"] = json_of(*test.decode);
  return json;
}

template <typename... Values>
std::string line(const char* format, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof(buffer), format, values...);
  return std::string(buffer) + "\n";
}

std::string rate_text(const char* name, const Spread& rate) {
  return line("  %-12s %.1f tokens/s (%.1f to %.1f)", name, rate.median, rate.least, rate.most);
}

std::string breakdown_text(const char* name, const Breakdown& breakdown) {
  std::string text = line("  time of %s, %u threads", name, breakdown.threads);
  const auto part = [&](double seconds, const std::string& what) {
    if (seconds < kLeastShown * breakdown.total()) return;
    text += line("    %5.1f %%  %s", 100 * seconds / breakdown.total(), what.c_str());
  };
  for (const Breakdown::Part& each : breakdown.operators) {
    part(each.seconds, uses_text(*each.what) + " (" + each.what->choice().plugin->id() + ")");
  }
  part(breakdown.waiting, "waiting");
  part(breakdown.host, "between operators");
  part(breakdown.experts, "experts on their way to memory");
  return text;
}

std::string percentiles_text(const char* name, const std::vector<double>& values) {
  return line("  %-12s P50 %.2f ms, P95 %.2f ms, P99 %.2f ms", name, 1000 * percentile(values, 50),
              1000 * percentile(values, 95), 1000 * percentile(values, 99));
}

std::string requests_text(const Report& report, const Test& test) {
  const RequestFigures of(report, test);
  const uint32_t n = report.settings.requests;
  std::string text = line("%u requests at once: a prompt of %u tokens, then %u tokens; %d passes",
                          n, test.prompt_tokens, test.generate_tokens, static_cast<int>(of.passes));
  const double generated = static_cast<double>(n) * test.generate_tokens;
  text += rate_text("all tokens",
                    rates(generated + static_cast<double>(n) * test.prompt_tokens, of.seconds));
  if (test.generate_tokens > 0) text += rate_text("generated", rates(generated, of.seconds));
  text += line("  %-12s int8 rate %.0f %%, f32 rate %.0f %%", "of limits", 100 * of.fractions.int8,
               100 * of.fractions.f32);
  text += percentiles_text("first token", of.first_token_seconds);
  text += percentiles_text("a request", of.request_seconds);
  if (test.generate_tokens > 0) text += percentiles_text("a token", of.token_seconds);
  return text;
}

std::string text_of(const Report& report, const Test& test) {
  if (report.settings.requests > 1) return requests_text(report, test);
  const Fractions prefill = prefill_fractions(report, test);
  std::string text =
      line("prompt of %u tokens, then %u tokens", test.prompt_tokens, test.generate_tokens);
  text += rate_text("prefill", rates(test.prompt_tokens, test.prefill_seconds));
  text += line("  %-12s int8 rate %.0f %%, f32 rate %.0f %%", "of limits", 100 * prefill.int8,
               100 * prefill.f32);
  text += line("  %-12s %.2f ms", "first token", 1000 * spread(test.first_token_seconds).median);
  if (test.generate_tokens > 0) {
    const Fractions decode = decode_fractions(report, test);
    text += rate_text("decode", rates(test.generate_tokens, test.decode_seconds));
    text += line("  %-12s read bandwidth %.0f %%, int8 rate %.0f %%, f32 rate %.0f %%", "of limits",
                 100 * decode.read, 100 * decode.int8, 100 * decode.f32);
    text += percentiles_text("a token", test.token_seconds);
    text += percentiles_text("its CPU time", test.token_cpu_seconds);
    if (report.settings.steady) {
      text += percentiles_text("fixed loop", test.loop_seconds);
      text += percentiles_text("its CPU time", test.loop_cpu_seconds);
    }
    const auto& [counters, tier] = test.decode_experts;
    if (tier.hits + tier.misses > 0) {
      text += line("  %-12s %.1f %% of what tokens asked for; %.0f were copied there", "on device",
                   percent(tier.hits, tier.hits + tier.misses), static_cast<double>(tier.loads));
    }
    if (counters.misses > 0) {
      text += line("  %-12s %.1f %% of %s", "expert hits",
                   percent(counters.hits, counters.hits + counters.misses),
                   tier.misses > 0 ? "the others" : "what tokens asked for");
    }
    if (counters.ahead > 0) {
      text += line("  %-12s %.0f %% of what was missing; %.0f %% of what was read ahead was used",
                   "read ahead", percent(counters.ahead_used, counters.misses),
                   percent(counters.ahead_used, counters.ahead));
    }
  }
  if (test.prefill) text += breakdown_text("the prompt", *test.prefill);
  if (test.decode && test.generate_tokens > 0) text += breakdown_text("the tokens", *test.decode);
  return text;
}

}  // namespace

std::string text(const Report& report) {
  const engine::Plan& plan = report.model->plan();
  std::string text = line("%s, %s, %u threads", plan.pipeline.model.path.c_str(),
                          plan.spec.architecture.c_str(), plan.threads);
  text += line("loaded in %.2f s, peak memory %s, planned %s", report.load_seconds,
               human_bytes(report.peak_memory).c_str(), human_bytes(plan.memory.peak()).c_str());
  text +=
      line("limits of the machine now: read %.1f GB/s, int8 %.0f GOP/s, f32 %.0f GFLOP/s",
           report.limits.read / 1e9, report.limits.rates.int8 / 1e9, report.limits.rates.f32 / 1e9);
  for (const Test& test : report.tests) text += text_of(report, test);
  return text;
}

Json json(const Report& report) {
  const engine::Plan& plan = report.model->plan();
  Json tests = Json::array();
  for (const Test& test : report.tests) tests.push_back(json_of(report, test));
  return {{"model", plan.pipeline.model.path.string()},
          {"architecture", plan.spec.architecture},
          {"threads", plan.threads},
          {"kv", model::codec_name(plan.pipeline.context.kv)},
          {"prefill_chunk", plan.max_rows},
          {"seed", plan.pipeline.generate.seed},
          {"warmup", report.settings.warmup},
          {"repeats", report.settings.repeats},
          {"load_seconds", report.load_seconds},
          {"peak_memory_bytes", report.peak_memory},
          {"planned_peak_memory_bytes", plan.memory.peak()},
          {"limits",
           {{"read_bytes_per_second", report.limits.read},
            {"int8_operations_per_second", report.limits.rates.int8},
            {"f32_operations_per_second", report.limits.rates.f32}}},
          {"tests", tests}};
}

}  // namespace colibri::bench
