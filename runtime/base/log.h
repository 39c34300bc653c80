// SPDX-License-Identifier: Apache-2.0
// The log: lines for the user that are no results. A library prints nothing by itself, so lines go
// nowhere until a program says where. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace colibri {

// Gets one line without its end, and COLIBRI_LOG_*; called from any thread, must not throw.
using LogSink = void (*)(int32_t level, std::string_view line);

void set_log_sink(LogSink sink);  // null = nowhere
void log(int32_t level, std::string_view line);

}  // namespace colibri
