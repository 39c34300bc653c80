// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/recorder.h"

namespace colibri::engine {

void Recorder::clear() {
  phases_.clear();
  for (Part& part : spans_) part.list.clear();
}

void Recorder::add(unsigned worker, const Operator* what, Time begin) {
  const Time end = Clock::now();
  const size_t phase = phases_.size() - 1;
  std::vector<Span>& list = spans_[worker].list;
  if (list.empty() || list.back().phase != phase || list.back().what != what) {
    list.push_back({what, phase, begin, end, {}});
  }
  list.back().end = end;
  list.back().busy += end - begin;
}

}  // namespace colibri::engine
