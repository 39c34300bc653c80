// SPDX-License-Identifier: Apache-2.0
// Prompts: from prompt.template and an input to ids.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/tokenizer.h"

namespace colibri::engine {

// The ids of the template with every {input} replaced. Special tokens that the template spells out
// become their ids. Those that the input spells out stay text, so that a log line cannot end the
// prompt; only a template that is nothing but {input} gives the input the template's rights.
Result<std::vector<int32_t>> encode_prompt(const Tokenizer& tokenizer, std::string_view prompt,
                                           std::string_view input);

}  // namespace colibri::engine
