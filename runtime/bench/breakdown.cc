// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/breakdown.h"

#include <algorithm>
#include <chrono>

namespace colibri::bench {
namespace {

using engine::Recorder;

double seconds_of(Recorder::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void Breakdown::add(const Recorder& recorder, Recorder::Time begin, Recorder::Time end) {
  threads = recorder.workers();
  const double all = seconds_of(end - begin);
  double in_phases = 0, loading = 0, busy = 0;
  for (const Recorder::Phase& phase : recorder.phases()) {
    (phase.kind == Recorder::Phase::Kind::kOperators ? in_phases : loading) +=
        seconds_of(phase.end - phase.begin);
  }
  for (unsigned worker = 0; worker < recorder.workers(); ++worker) {
    for (const Recorder::Span& span : recorder.spans(worker)) {
      auto found = std::find_if(operators.begin(), operators.end(),
                                [&](const Part& part) { return part.what == span.what; });
      if (found == operators.end()) found = operators.insert(found, {span.what, 0});
      found->seconds += seconds_of(span.busy);
      busy += seconds_of(span.busy);
    }
  }
  seconds += all;
  waiting += threads * in_phases - busy;
  experts += threads * loading;
  host += threads * (all - in_phases - loading);
  std::sort(operators.begin(), operators.end(),
            [](const Part& a, const Part& b) { return a.seconds > b.seconds; });
}

std::string uses_text(const engine::Operator& what) {
  std::string text;
  for (const std::string& use : what.uses()) text += (text.empty() ? "" : ", ") + use;
  return text;
}

}  // namespace colibri::bench
