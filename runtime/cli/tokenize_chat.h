// SPDX-License-Identifier: Apache-2.0
// colibri tokenize --chat: the prompt that a conversation becomes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/plan.h"

namespace colibri::cli {

struct ChatPrompt {
  std::string text;
  std::vector<int32_t> ids;
};

// file: a JSON object {"messages": [...], "tools": [...], "add_generation_prompt": true, ...} whose
// other keys are variables of the template, or a list of messages.
Result<ChatPrompt> chat_prompt(const engine::Plan& plan, const std::string& file);

}  // namespace colibri::cli
