// SPDX-License-Identifier: Apache-2.0
// The date of the goldens (tools/goldens/chat/jinja.py).
#pragma once

#include <ctime>

namespace colibri::chat::testing {

// Saturday, 2026-03-07 09:05:02.
inline std::tm fixed_date() {
  std::tm date = {};
  date.tm_year = 126;
  date.tm_mon = 2;
  date.tm_mday = 7;
  date.tm_hour = 9;
  date.tm_min = 5;
  date.tm_sec = 2;
  date.tm_wday = 6;
  date.tm_yday = 65;
  return date;
}

}  // namespace colibri::chat::testing
