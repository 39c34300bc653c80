// SPDX-License-Identifier: Apache-2.0
// colibri tokenize: the ids that a text becomes.
#include "runtime/cli/tokenize_command.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cli/input_options.h"
#include "runtime/cli/pipeline_options.h"
#include "runtime/cli/tokenize_chat.h"
#include "runtime/engine/plan.h"

namespace colibri::cli {
namespace {

struct TokenizeOptions {
  PipelineOptions pipeline;
  InputOptions input;
  std::string chat;  // a file; empty = none
  bool plain = false;
  bool json = false;
};

// Bytes that are half a character cannot be shown: U+FFFD stands for them.
std::string json_text(std::string_view bytes) {
  return nlohmann::json(std::string(bytes))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status tokenize(const TokenizeOptions& options) {
  COLIBRI_ASSIGN(config::Pipeline pipeline, options.pipeline.open());
  std::string text;
  if (options.chat.empty()) {
    COLIBRI_ASSIGN(text, options.input.read());
  }
  COLIBRI_ASSIGN(const auto plan, engine::Plan::make(std::move(pipeline)));
  COLIBRI_ASSIGN(const engine::Tokenizer* tokenizer, plan->required_tokenizer());
  nlohmann::ordered_json document = {{"tokenizer", tokenizer->plugin_id()}};
  std::vector<int32_t> ids;
  if (options.chat.empty()) {
    const uint32_t flags =
        options.plain ? 0 : COLIBRI_ENCODE_PARSE_SPECIAL | COLIBRI_ENCODE_ADD_SPECIAL;
    COLIBRI_ASSIGN(ids, tokenizer->encode(text, flags));
  } else {
    COLIBRI_ASSIGN(ChatPrompt prompt, chat_prompt(*plan, options.chat));
    document["prompt"] = prompt.text;
    ids = std::move(prompt.ids);
  }
  document["ids"] = ids;
  if (options.json) return print(document.dump() + "\n");
  std::string lines;
  if (!options.chat.empty()) lines += json_text(document["prompt"].get<std::string>()) + "\n";
  for (const int32_t id : ids) {
    lines += std::to_string(id) + "\t" + json_text(tokenizer->token_bytes(id)) + "\n";
  }
  return print(lines);
}

}  // namespace

void add_tokenize_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command = app.add_subcommand("tokenize", "Show the ids that a text becomes");
  options->pipeline.add_to(*command);
  options->input.add_to(*command);
  CLI::Option* chat =
      command->add_option("--chat", options->chat,
                          "A JSON file with a conversation: show the prompt that the chat template "
                          "makes of it, and its ids");
  chat->excludes("--prompt")->excludes("--file");
  command
      ->add_flag("--plain", options->plain,
                 "Special tokens in the text stay text, and none are added")
      ->excludes(chat);
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &invocation] {
    if (Status status = tokenize(*options); !status.ok()) invocation.fail(status, kRefused);
  });
}

}  // namespace colibri::cli
