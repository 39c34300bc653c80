// SPDX-License-Identifier: Apache-2.0
// colibri tokenize: the ids that a text becomes.
#include "runtime/cli/tokenize_command.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "runtime/cli/input_options.h"
#include "runtime/cli/pipeline_options.h"
#include "runtime/engine/plan.h"

namespace colibri::cli {
namespace {

struct TokenizeOptions {
  PipelineOptions pipeline;
  InputOptions input;
  bool plain = false;
  bool json = false;
};

Status tokenize(const TokenizeOptions& options) {
  COLIBRI_ASSIGN(config::Pipeline pipeline, options.pipeline.open());
  COLIBRI_ASSIGN(const std::string text, options.input.read());
  COLIBRI_ASSIGN(const auto plan, engine::Plan::make(std::move(pipeline)));
  const engine::Tokenizer* tokenizer = plan->tokenizer.get();
  if (tokenizer == nullptr) {
    return unsupported(plan->source->files().path() +
                       ": the model has no tokenizer (no tokenizer.json)");
  }
  const uint32_t flags =
      options.plain ? 0 : COLIBRI_ENCODE_PARSE_SPECIAL | COLIBRI_ENCODE_ADD_SPECIAL;
  COLIBRI_ASSIGN(const std::vector<int32_t> ids, tokenizer->encode(text, flags));
  if (options.json) {
    const nlohmann::ordered_json document = {{"tokenizer", tokenizer->plugin_id()}, {"ids", ids}};
    return print(document.dump() + "\n");
  }
  std::string lines;
  for (const int32_t id : ids) {
    // Bytes that are half a character cannot be shown: U+FFFD stands for them.
    const std::string piece = nlohmann::json(std::string(tokenizer->token_bytes(id)))
                                  .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    lines += std::to_string(id) + "\t" + piece + "\n";
  }
  return print(lines);
}

}  // namespace

void add_tokenize_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command = app.add_subcommand("tokenize", "Show the ids that a text becomes");
  options->pipeline.add_to(*command);
  options->input.add_to(*command);
  command->add_flag("--plain", options->plain,
                    "Special tokens in the text stay text, and none are added");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &invocation] {
    if (Status status = tokenize(*options); !status.ok()) invocation.fail(status, kRefused);
  });
}

}  // namespace colibri::cli
