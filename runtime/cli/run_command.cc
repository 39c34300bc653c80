// SPDX-License-Identifier: Apache-2.0
// colibri run: one input, one answer, streamed.
#include "runtime/cli/run_command.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/cli/input_options.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/pipeline_options.h"
#include "runtime/cli/statistics.h"
#include "runtime/engine/generator.h"
#include "runtime/engine/model.h"
#include "runtime/engine/prompt.h"
#include "runtime/experts/usage.h"

namespace colibri::cli {
namespace {

struct RunOptions {
  PipelineOptions pipeline;
  InputOptions input;
  bool json = false;
  std::string route_trace, expert_usage;  // files; empty = not recorded
};

// Everything before the first token.
struct Ready {
  std::unique_ptr<engine::Model> model;
  std::unique_ptr<engine::Context> context;
  std::unique_ptr<engine::SamplerChain> sampler;
  std::vector<int32_t> ids;
};

Result<Ready> prepare(const RunOptions& options) {
  Ready ready;
  COLIBRI_ASSIGN(config::Pipeline pipeline, options.pipeline.open());
  COLIBRI_ASSIGN(const std::string input, options.input.read());
  COLIBRI_ASSIGN(auto plan, engine::Plan::make(std::move(pipeline)));
  COLIBRI_ASSIGN(const engine::Tokenizer* tokenizer, plan->required_tokenizer());
  COLIBRI_ASSIGN(ready.ids, engine::encode_prompt(*tokenizer, plan->pipeline.prompt.text, input));
  if (ready.ids.empty()) {
    return invalid_argument(
        "the input makes no token to start from: it is empty, and so is "
        "prompt.template, and the tokenizer adds none");
  }
  if (static_cast<int64_t>(ready.ids.size()) > plan->max_tokens) {
    return invalid_argument("the input makes " + std::to_string(ready.ids.size()) +
                            " tokens, more than context.max_tokens, " +
                            std::to_string(plan->max_tokens) + "; raise it or shorten the input");
  }
  COLIBRI_ASSIGN(ready.model, engine::Model::load(std::move(plan)));
  if (!options.expert_usage.empty()) {
    COLIBRI_TRY(ready.model->check_store("there is no use of them to count").at("--expert-usage"));
  }
  if (!options.route_trace.empty()) {
    COLIBRI_TRY(ready.model->record_routes(options.route_trace));
  }
  COLIBRI_ASSIGN(ready.context, ready.model->create_context(ready.model->plan().max_tokens));
  COLIBRI_ASSIGN(engine::SamplerChain sampler, ready.model->create_sampler());
  ready.sampler = std::make_unique<engine::SamplerChain>(std::move(sampler));
  return ready;
}

Status write_records(const RunOptions& options, engine::Model& model) {
  COLIBRI_TRY(model.finish_routes());
  if (options.expert_usage.empty()) return {};
  return write_file(options.expert_usage,
                    experts::usage_text(model.plan().routing_shape(), model.expert_uses()));
}

void run(const RunOptions& options, Invocation& invocation) {
  const Interrupt interrupt;
  auto prepared = prepare(options);
  if (!prepared.ok()) return invocation.fail(prepared.status(), kRefused);
  Ready& ready = *prepared;
  const config::Pipeline& pipeline = ready.model->plan().pipeline;

  engine::Generator generator(*ready.context, *ready.sampler, ready.model->tokenizer(),
                              ready.model->spec().eos, pipeline.generate.stop);
  engine::RunLimits limits;
  limits.cancel = interrupt.flag();
  engine::GenerateResult result;
  std::string text;
  std::vector<int32_t> ids;
  Status output;
  const Status status = generator.run(
      ready.ids, {pipeline.generate.max_tokens, pipeline.generate.seed}, limits,
      [&](int32_t id, std::string_view piece) {
        ids.push_back(id);
        text += piece;
        if (options.json) return true;
        output = print(std::string(piece));
        if (output.ok()) output = flush_output();
        return output.ok();
      },
      &result);
  if (!options.json && output.ok()) {
    output = print(text.ends_with('\n') ? "" : "\n");
    if (output.ok()) output = flush_output();
  }
  const Statistics statistics = Statistics::of(result, *ready.model);
  if (options.json) {
    nlohmann::ordered_json document = {{"text", text}, {"ids", ids}};
    document.update(statistics.json());
    output = print(document.dump() + "\n");
    if (output.ok()) output = flush_output();
  }
  std::fprintf(stderr, "%s\n", statistics.line().c_str());
  const Status records = write_records(options, *ready.model);
  if (!status.ok()) return invocation.fail(status, kFailed);
  if (!output.ok()) return invocation.fail(output, kFailed);
  if (!records.ok()) return invocation.fail(records, kFailed);
}

}  // namespace

void add_run_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Generate text from one input");
  options->pipeline.add_to(*command);
  options->pipeline.add_settings_to(*command);
  options->input.add_to(*command);
  command->add_flag("--json", options->json,
                    "Print one JSON object with text, ids and statistics when done");
  command
      ->add_option("--route-trace", options->route_trace,
                   "Record which experts the router chooses, for colibri cache replay")
      ->type_name("FILE");
  command
      ->add_option("--expert-usage", options->expert_usage,
                   "Record how often each expert is used, for the cache policy pinned")
      ->type_name("FILE");
  command->callback([options, &invocation] { run(*options, invocation); });
}

}  // namespace colibri::cli
