// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/log.h"

#include <atomic>

namespace colibri {
namespace {

std::atomic<LogSink> current_sink = nullptr;

}  // namespace

void set_log_sink(LogSink sink) {
  current_sink = sink;
}

void log(int32_t level, std::string_view line) {
  if (const LogSink sink = current_sink) sink(level, line);
}

}  // namespace colibri
