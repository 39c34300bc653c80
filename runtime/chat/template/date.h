// SPDX-License-Identifier: Apache-2.0
// strftime in the C locale, for chat templates that tell the model the date.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri::chat {

// %Y %y %m %d %e %j %B %b %h %A %a %H %I %M %S %p %F %T %D %R %u %w %n %t %%, and %-d and the like
// without the leading zero. Others are refused by name.
Result<std::string> format_date(const std::tm& date, std::string_view format);

}  // namespace colibri::chat
