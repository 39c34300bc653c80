// SPDX-License-Identifier: Apache-2.0
// Texts between quotes in a template.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri::chat {

// Replaces the escapes of Python: \n, \x41, \u00e9, \101, ... Unknown ones stay as they are, \N{name}
// and escapes that are cut off or no character are failures without a place.
Result<std::string> unescape(std::string_view literal);

}  // namespace colibri::chat
