// SPDX-License-Identifier: Apache-2.0
// The upper case of a character, which may be several characters.
#pragma once

#include <string>

namespace colibri::chat {

std::string full_upper(char32_t c);  // UTF-8

}  // namespace colibri::chat
