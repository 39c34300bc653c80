// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/trace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/bench/breakdown.h"

namespace colibri::bench {
namespace {

using engine::Recorder;
using Json = nlohmann::json;

double microseconds(Recorder::Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

}  // namespace

void Trace::add(const std::string& name, const Recorder& recorder, Recorder::Time begin,
                Recorder::Time end) {
  if (events_.empty()) origin_ = begin;
  threads_ = std::max(threads_, recorder.workers());
  event(name, "call", 0, begin, end, "{}");
  for (const Recorder::Phase& phase : recorder.phases()) {
    if (phase.kind == Recorder::Phase::Kind::kExperts) {
      event("experts", "wait", 0, phase.begin, phase.end, "{}");
    }
  }
  for (unsigned worker = 0; worker < recorder.workers(); ++worker) {
    for (const Recorder::Span& span : recorder.spans(worker)) {
      const Json arguments = {{"plugin", span.what->choice().plugin->id()},
                              {"busy_us", microseconds(span.busy)}};
      event(uses_text(*span.what), "operator", worker, span.begin, span.end, arguments.dump());
    }
  }
}

void Trace::event(const std::string& name, const char* category, unsigned thread,
                  Recorder::Time begin, Recorder::Time end, const std::string& arguments) {
  char times[96];
  std::snprintf(times, sizeof(times), R"(,"ts":%.3f,"dur":%.3f)", microseconds(begin - origin_),
                microseconds(end - begin));
  events_ += (events_.empty() ? "{\"name\":" : ",\n{\"name\":") + Json(name).dump() +
             ",\"cat\":\"" + category + R"(","ph":"X","pid":1,"tid":)" + std::to_string(thread) +
             times + ",\"args\":" + arguments + "}";
}

std::string Trace::json() const {
  std::string text = R"({"displayTimeUnit":"ms","traceEvents":[)"
                     "\n"
                     R"({"name":"process_name","ph":"M","pid":1,"args":{"name":"colibri"}})";
  for (unsigned thread = 0; thread < threads_; ++thread) {
    text += R"(,
{"name":"thread_name","ph":"M","pid":1,"tid":)" +
            std::to_string(thread) + R"(,"args":{"name":"thread )" + std::to_string(thread) +
            R"("}})";
  }
  return text + (events_.empty() ? "" : ",\n") + events_ + "\n]}\n";
}

}  // namespace colibri::bench
