// SPDX-License-Identifier: Apache-2.0
// A file of token ranks as tiktoken has it: lines of a token in base64, a space, and its rank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace colibri::tokenizers {

// Whether the file begins like one.
bool is_rank_file(std::string_view file);

// The tokens by rank, which is also their id: ranks are 0, 1, 2 and so on, in any order, and all 256
// single bytes are among the tokens. COLIBRI_CORRUPT_DATA with the line.
Result<std::vector<std::string>> read_rank_file(std::string_view file);

}  // namespace colibri::tokenizers
