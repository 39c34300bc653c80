// SPDX-License-Identifier: Apache-2.0
// A trace in Chrome's format, for Perfetto or chrome://tracing: what each thread did and when.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#pragma once

#include <string>

#include "runtime/engine/recorder.h"

namespace colibri::bench {

class Trace {
 public:
  // The calls to come: `name` names them. recorder holds what happened since it was cleared, in a
  // call from begin to end.
  void add(const std::string& name, const engine::Recorder& recorder, engine::Recorder::Time begin,
           engine::Recorder::Time end);
  // The whole file.
  std::string json() const;

 private:
  void event(const std::string& name, const char* category, unsigned thread,
             engine::Recorder::Time begin, engine::Recorder::Time end,
             const std::string& arguments);

  std::string events_;
  unsigned threads_ = 0;
  engine::Recorder::Time origin_{};
};

}  // namespace colibri::bench
