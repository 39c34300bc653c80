// SPDX-License-Identifier: Apache-2.0
// Globs over tensor names, as `ignore` of an architecture document lists them.
#pragma once

#include <string_view>

namespace colibri::model {

// Whether the whole text fits: * stands for any characters, ? for one byte, all else for itself.
bool glob_matches(std::string_view glob, std::string_view text);

}  // namespace colibri::model
