// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/tokenize_chat.h"

#include "runtime/base/file.h"
#include "runtime/chat/chat_template.h"
#include "runtime/cli/input_options.h"

namespace colibri::cli {
namespace {

Result<chat::Conversation> read_conversation(const std::string& file) {
  COLIBRI_ASSIGN(const std::string text, read_file(file, kMaxInputBytes));
  chat::Json json;
  try {
    json = chat::Json::parse(text);
  } catch (const chat::Json::exception& error) {
    return invalid_argument(file + ": is no JSON: " + error.what());
  }
  if (json.is_array()) json = chat::Json{{"messages", json}};
  if (!json.is_object() || !json.contains("messages")) {
    return invalid_argument(file + ": is no list of messages and no object with 'messages'");
  }
  chat::Conversation conversation;
  for (auto& [key, value] : json.items()) {
    if (key == "messages") {
      conversation.messages = value;
    } else if (key == "tools") {
      conversation.tools = value;
    } else if (key == "add_generation_prompt" && value.is_boolean()) {
      conversation.add_generation_prompt = value;
    } else {
      conversation.options[key] = value;
    }
  }
  return conversation;
}

}  // namespace

Result<ChatPrompt> chat_prompt(const engine::Plan& plan, const std::string& file) {
  COLIBRI_ASSIGN(const chat::Conversation conversation, read_conversation(file));
  COLIBRI_ASSIGN(const auto chat_template,
                 chat::ChatTemplate::open(plan.pipeline, *plan.source, *plan.tokenizer));
  const auto rendered = chat_template.render(conversation);
  if (!rendered.ok()) return rendered.status().at(file);
  ChatPrompt prompt;
  prompt.text = rendered->view();
  COLIBRI_ASSIGN(prompt.ids, chat::encode(*plan.tokenizer, *rendered));
  return prompt;
}

}  // namespace colibri::cli
