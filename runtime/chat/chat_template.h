// SPDX-License-Identifier: Apache-2.0
// The chat template of a model: found, and applied to conversations.
#pragma once

#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/chat/template/template.h"
#include "runtime/config/pipeline.h"
#include "runtime/engine/tokenizer.h"
#include "runtime/model/source.h"

namespace colibri::chat {

using Json = nlohmann::ordered_json;

// What a template is applied to.
struct Conversation {
  Json messages = Json::array();      // {"role", "content", ...}, as transformers takes them
  Json tools;                         // JSON schemas; null = none
  bool add_generation_prompt = true;  // ends where the assistant's answer begins
  Json options = Json::object();      // further variables of the template, e.g. enable_thinking
};

// Immutable: any number of threads may use it.
class ChatTemplate {
 public:
  // By the pipeline's key chat.template. "auto" is chat_template.jinja of the checkpoint with those
  // of additional_chat_templates, else chat_template of tokenizer_config.json: a text, or a list of
  // named ones. Without any, the error names the fallbacks.
  static Result<ChatTemplate> open(const config::Pipeline& pipeline,
                                   const model::ModelSource& source,
                                   const engine::Tokenizer& tokenizer);

  // Where it comes from: "chat_template.jinja", "tokenizer_config.json: chat_template", a path.
  const std::string& origin() const { return origin_; }
  // "'default'", "'tool_use'", ... A conversation with tools takes tool_use if it is there, as
  // transformers does; any other takes default.
  std::vector<std::string> names() const;
  // What the conversation becomes. `now` is what strftime_now tells; none = the clock.
  Result<Text> render(const Conversation& conversation,
                      const std::optional<std::tm>& now = std::nullopt) const;

 private:
  ChatTemplate() = default;
  Status compile(const std::string& name, const std::string& origin, std::string_view source);
  Status open_named(const std::string& name, const config::Pipeline& pipeline);
  Status open_file(const std::string& path, const config::Pipeline& pipeline);
  Status open_more(const model::ModelSource& source);
  Status open_checkpoint(const model::ModelSource& source, const Json& config);

  std::string origin_;
  std::map<std::string, Template> by_name_;                   // "default", "tool_use", ...
  std::vector<std::pair<std::string, std::string>> special_;  // "bos_token" -> "<s>"
};

// The ids of a rendered conversation. A special token counts only where the template itself wrote
// it; spelled in a message it is text. None are added: templates write their own.
Result<std::vector<int32_t>> encode(const engine::Tokenizer& tokenizer, const Text& rendered);

}  // namespace colibri::chat
