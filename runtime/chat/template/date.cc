// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/date.h"

#include <algorithm>

#include "runtime/base/utf8.h"

namespace colibri::chat {
namespace {

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};

std::string number(int value, size_t width, char fill, bool bare) {
  std::string digits = std::to_string(value);
  if (!bare && digits.size() < width) digits.insert(0, width - digits.size(), fill);
  return digits;
}

// What a letter stands for that stands for others.
std::string_view composed(char letter) {
  switch (letter) {
    case 'F':
      return "%Y-%m-%d";
    case 'T':
      return "%H:%M:%S";
    case 'D':
      return "%m/%d/%y";
    case 'R':
      return "%H:%M";
    default:
      return {};
  }
}

bool add_field(const std::tm& date, char letter, bool bare, std::string& to) {
  const int hour = date.tm_hour % 12 == 0 ? 12 : date.tm_hour % 12;
  const std::string_view month = kMonths[std::clamp(date.tm_mon, 0, 11)];
  const std::string_view day = kDays[std::clamp(date.tm_wday, 0, 6)];
  const int year = date.tm_year + 1900;
  switch (letter) {
    case 'Y':
      to += number(year, 4, '0', bare);
      return true;
    case 'y':
      to += number(year % 100, 2, '0', bare);
      return true;
    case 'm':
      to += number(date.tm_mon + 1, 2, '0', bare);
      return true;
    case 'd':
      to += number(date.tm_mday, 2, '0', bare);
      return true;
    case 'e':
      to += number(date.tm_mday, 2, ' ', bare);
      return true;
    case 'j':
      to += number(date.tm_yday + 1, 3, '0', bare);
      return true;
    case 'H':
      to += number(date.tm_hour, 2, '0', bare);
      return true;
    case 'I':
      to += number(hour, 2, '0', bare);
      return true;
    case 'M':
      to += number(date.tm_min, 2, '0', bare);
      return true;
    case 'S':
      to += number(date.tm_sec, 2, '0', bare);
      return true;
    case 'u':
      to += number(date.tm_wday == 0 ? 7 : date.tm_wday, 1, '0', bare);
      return true;
    case 'w':
      to += number(date.tm_wday, 1, '0', bare);
      return true;
    case 'B':
      to += month;
      return true;
    case 'b':
    case 'h':
      to += month.substr(0, 3);
      return true;
    case 'A':
      to += day;
      return true;
    case 'a':
      to += day.substr(0, 3);
      return true;
    case 'p':
      to += date.tm_hour < 12 ? "AM" : "PM";
      return true;
    case 'n':
      to += '\n';
      return true;
    case 't':
      to += '\t';
      return true;
    case '%':
      to += '%';
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<std::string> format_date(const std::tm& date, std::string_view format) {
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    const size_t start = i++;
    const bool bare = i < format.size() && format[i] == '-';
    if (bare) ++i;
    const char letter = i < format.size() ? format[i] : '\0';
    if (const std::string_view parts = composed(letter); !parts.empty()) {
      COLIBRI_ASSIGN(const std::string made, format_date(date, parts));
      text += made;
    } else if (!add_field(date, letter, bare, text)) {
      return invalid_argument("strftime_now does not know " +
                              utf8::printable(format.substr(start, i + 1 - start)));
    }
  }
  return text;
}

}  // namespace colibri::chat
