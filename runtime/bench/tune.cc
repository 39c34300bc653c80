// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/tune.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "runtime/bench/subject.h"
#include "runtime/bench/summary.h"
#include "runtime/engine/plan.h"
#include "runtime/plugin/operator_text.h"

namespace colibri::bench {
namespace {

constexpr double kNoise = 0.03;  // a gain below this is none
// A plugin this many times slower on a few tokens is not worth a whole measurement.
constexpr double kHopeless = 4;
constexpr uint32_t kFewTokens = 8;
constexpr uint32_t kChunks[] = {64, 128, 256, 512, 1024, 2048};

class Tuner {
 public:
  Tuner(const config::Pipeline& pipeline, const TuneSettings& settings, const volatile int* cancel,
        const std::function<void(const Decision&)>& decided)
      : pipeline_(pipeline), settings_(settings), cancel_(cancel), decided_(decided) {}

  Status choose_plugins();
  Status choose_threads_and_chunk();

 private:
  Result<std::unique_ptr<Subject>> load(const config::Pipeline& pipeline) const {
    return Subject::load(pipeline, settings_.prompt_tokens + settings_.generate_tokens, cancel_);
  }
  config::Pipeline preferring(const std::string& plugin) const;
  // Those that never change an answer and are not hopeless, and those that are in use.
  Result<std::vector<std::string>> candidates() const;
  Decision decide(std::string key, const std::vector<std::string>& values,
                  const std::vector<std::vector<double>>& rounds, size_t initial) const;
  // Whether pins make prompt and tokens together faster than the pipeline is without them.
  Result<bool> pins_pay(const std::map<std::string, std::string>& pins) const;

  config::Pipeline pipeline_;
  const TuneSettings& settings_;
  const volatile int* const cancel_;
  const std::function<void(const Decision&)>& decided_;
};

config::Pipeline Tuner::preferring(const std::string& plugin) const {
  config::Pipeline changed = pipeline_;
  std::erase(changed.plugins.prefer, plugin);
  changed.plugins.prefer.insert(changed.plugins.prefer.begin(), plugin);
  return changed;
}

Result<std::vector<std::string>> Tuner::candidates() const {
  COLIBRI_ASSIGN(const auto plan, engine::Plan::make(pipeline_));
  if (plan->device != nullptr) {
    return unsupported("tunes what the CPU computes, and the model is placed on " +
                       plan->device->name() + "; set placement: cpu");
  }
  std::vector<std::string> ids;
  std::vector<double> seconds;
  for (const auto& decision : plan->registry->decisions()) {
    if (!decision.accepted || decision.numerics != COLIBRI_NUMERICS_IDENTICAL) continue;
    if (plan->registry->device_count(decision.id) > 0) continue;  // would place the model there
    COLIBRI_ASSIGN(const auto subject, load(preferring(decision.id)));
    const uint32_t prompt = std::min(kFewTokens, settings_.prompt_tokens);
    double least = std::numeric_limits<double>::infinity();
    for (uint32_t round = 0; round <= settings_.repeats; ++round) {
      COLIBRI_ASSIGN(const double taken, subject->prefill(prompt, prompt, 0));
      least = std::min(least, taken);
    }
    ids.push_back(decision.id);
    seconds.push_back(least);
  }
  const double least = *std::min_element(seconds.begin(), seconds.end());
  std::vector<std::string> left;
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool in_use =
        std::any_of(plan->operators->all().begin(), plan->operators->all().end(),
                    [&](const auto& made) { return made->choice().plugin->id() == ids[i]; });
    if (in_use || seconds[i] <= kHopeless * least) left.push_back(ids[i]);
  }
  return left;
}

Decision Tuner::decide(std::string key, const std::vector<std::string>& values,
                       const std::vector<std::vector<double>>& rounds, size_t initial) const {
  Decision decision;
  decision.key = std::move(key);
  decision.initial = initial;
  std::vector<double> medians;
  for (size_t i = 0; i < values.size(); ++i) {
    medians.push_back(spread(rounds[i]).median);
    decision.alternatives.push_back({values[i], medians.back()});
  }
  decision.chosen = fastest(medians, initial);
  return decision;
}

Status Tuner::choose_plugins() {
  COLIBRI_ASSIGN(const auto ids, candidates());
  // By operator and plugin: the seconds of each round.
  std::map<std::string, std::map<std::string, std::vector<double>>> seconds;
  std::map<std::string, std::set<std::string>> now;  // by operator: who computes it
  for (uint32_t round = 0; round < settings_.repeats; ++round) {
    for (const std::string& id : ids) {
      COLIBRI_ASSIGN(const auto subject, load(preferring(id)));
      COLIBRI_TRY(subject->prefill(settings_.prompt_tokens, settings_.prompt_tokens, 0).status());
      COLIBRI_ASSIGN(const auto taken, subject->operator_seconds(id, settings_.prompt_tokens,
                                                                 settings_.generate_tokens));
      for (const auto& [name, of] : taken) seconds[name][id].push_back(of);
    }
  }
  COLIBRI_ASSIGN(const auto plan, engine::Plan::make(pipeline_));
  for (const auto& made : plan->operators->all()) {
    now[plugin::operator_name(made->asked().get().op)].insert(made->choice().plugin->id());
  }
  std::vector<Decision> decisions;
  std::map<std::string, std::string> pins;
  for (const auto& [name, by_plugin] : seconds) {
    if (pipeline_.plugins.operators.contains(name) || now[name].size() != 1) continue;
    std::vector<std::string> values;
    std::vector<std::vector<double>> rounds;
    for (const auto& [id, of] : by_plugin) {
      values.push_back(id);
      rounds.push_back(of);
    }
    const auto initial = std::find(values.begin(), values.end(), *now[name].begin());
    if (initial == values.end()) continue;
    decisions.push_back(decide("plugins.operators." + name, values, rounds,
                               static_cast<size_t>(initial - values.begin())));
    if (decisions.back().changed()) pins[name] = decisions.back().value();
  }
  if (!pins.empty()) {
    COLIBRI_ASSIGN(const bool pay, pins_pay(pins));
    if (pay) pipeline_.plugins.operators.insert(pins.begin(), pins.end());
    if (!pay) {
      for (Decision& decision : decisions) decision.chosen = decision.initial;
    }
  }
  for (const Decision& decision : decisions) decided_(decision);
  return {};
}

Result<bool> Tuner::pins_pay(const std::map<std::string, std::string>& pins) const {
  config::Pipeline pinned = pipeline_;
  pinned.plugins.operators.insert(pins.begin(), pins.end());
  std::vector<double> without, with;
  for (uint32_t round = 0; round < settings_.repeats; ++round) {
    for (auto [pipeline, seconds] :
         {std::pair(&pipeline_, &without), std::pair(&std::as_const(pinned), &with)}) {
      COLIBRI_ASSIGN(const auto subject, load(*pipeline));
      COLIBRI_ASSIGN(const double prefill,
                     subject->prefill(settings_.prompt_tokens, settings_.prompt_tokens, 0));
      COLIBRI_ASSIGN(const double decode,
                     subject->decode(settings_.prompt_tokens, settings_.generate_tokens, 0));
      seconds->push_back(prefill + decode);
    }
  }
  return spread(with).median < spread(without).median;
}

Status Tuner::choose_threads_and_chunk() {
  const uint32_t configured = pipeline_.context.prefill_chunk;
  std::vector<uint32_t> chunks;
  for (const uint32_t chunk : kChunks) {
    if (chunk < settings_.prompt_tokens && chunk != configured) chunks.push_back(chunk);
  }
  chunks.push_back(std::min(configured, settings_.prompt_tokens));
  std::sort(chunks.begin(), chunks.end());
  config::Pipeline widest = pipeline_;
  widest.context.prefill_chunk = std::max(configured, chunks.back());
  COLIBRI_ASSIGN(const auto subject, load(widest));
  std::vector<unsigned> threads;  // 1, 2, 3, 4, 6, 8, 12, ... and all
  const unsigned all = subject->plan().threads;
  for (unsigned n = 1, step = 1; n < all; n += step) {
    threads.push_back(n);
    if (n >= 4) step = n % 3 == 0 ? n / 3 : n / 2;
  }
  threads.push_back(all);

  // Alternatives take turns, so that what else the machine does falls on all alike.
  const auto measure = [&](const auto& values, const auto& seconds_of, std::string key,
                           size_t initial) -> Result<Decision> {
    std::vector<std::vector<double>> rounds(values.size());
    for (uint32_t round = 0; round < settings_.repeats; ++round) {
      for (size_t i = 0; i < values.size(); ++i) {
        COLIBRI_ASSIGN(const double seconds, seconds_of(values[i]));
        rounds[i].push_back(seconds);
      }
    }
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const auto value : values) texts.push_back(std::to_string(value));
    Decision decision = decide(std::move(key), texts, rounds, initial);
    decided_(decision);
    return decision;
  };
  const auto at = [](const auto& values, auto value) {
    return static_cast<size_t>(std::find(values.begin(), values.end(), value) - values.begin());
  };
  const uint32_t prompt = settings_.prompt_tokens;
  const uint32_t chunk = std::min(configured, prompt);
  COLIBRI_TRY(subject->prefill(prompt, chunk, all).status());  // warms up
  COLIBRI_ASSIGN(const Decision for_prompt,
                 measure(
                     threads, [&](unsigned n) { return subject->prefill(prompt, chunk, n); },
                     "threads.count", at(threads, all)));
  // A pool has one size: fewer threads for a prompt also bound those of a token.
  const unsigned most = threads[for_prompt.chosen];
  std::erase_if(threads, [&](unsigned n) { return n > most; });
  const unsigned decode_now = std::min(subject->plan().decode_threads, most);
  if (at(threads, decode_now) == threads.size()) {
    threads.push_back(decode_now);
    std::sort(threads.begin(), threads.end());
  }
  COLIBRI_TRY(measure(
                  threads,
                  [&](unsigned n) { return subject->decode(prompt, settings_.generate_tokens, n); },
                  "threads.decode", at(threads, decode_now))
                  .status());
  return measure(
             chunks, [&](uint32_t n) { return subject->prefill(prompt, n, most); },
             "context.prefill_chunk", at(chunks, chunk))
      .status();
}

}  // namespace

size_t fastest(const std::vector<double>& seconds, size_t initial) {
  const auto least =
      static_cast<size_t>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
  return seconds[least] < (1 - kNoise) * seconds[initial] ? least : initial;
}

Status tune(const config::Pipeline& pipeline, const TuneSettings& settings,
            const volatile int* cancel, const std::function<void(const Decision&)>& decided) {
  Tuner tuner(pipeline, settings, cancel, decided);
  COLIBRI_TRY(tuner.choose_plugins());
  return tuner.choose_threads_and_chunk();
}

}  // namespace colibri::bench
