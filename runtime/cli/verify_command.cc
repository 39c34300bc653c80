// SPDX-License-Identifier: Apache-2.0
// colibri verify: whether a .colibri file is what was written, and computes numbers.
#include "runtime/cli/verify_command.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/progress_line.h"
#include "runtime/config/pipeline.h"
#include "runtime/convert/verify.h"
#include "runtime/engine/model.h"

namespace colibri::cli {
namespace {

// A few tokens through the whole model.
Status try_out(std::unique_ptr<engine::Plan> plan) {
  COLIBRI_ASSIGN(const auto model, engine::Model::load(std::move(plan)));
  const int64_t vocabulary = model->spec().vocabulary;
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < std::min<int64_t>(4, model->plan().max_tokens); ++i) {
    ids.push_back(static_cast<int32_t>(i * vocabulary / 4));
  }
  COLIBRI_ASSIGN(const auto context, model->create_context(static_cast<int64_t>(ids.size())));
  std::vector<float> logits(static_cast<size_t>(vocabulary));
  COLIBRI_TRY(context->forward(ids, engine::LogitsOf::kLast, logits.data()));
  for (const float logit : logits) {
    if (!std::isfinite(logit)) return corrupt_data("the model computes NaN or infinite logits");
  }
  return {};
}

Status verify(const std::string& path) {
  COLIBRI_ASSIGN(config::Pipeline pipeline, config::default_pipeline(path, {}));
  COLIBRI_ASSIGN(auto plan, engine::Plan::make(std::move(pipeline)));
  const size_t tensors = plan->source->tensors().size();
  {
    ProgressLine line;
    COLIBRI_TRY(
        convert::verify(*plan->source, [&](uint64_t done, uint64_t all) { line.show(done, all); }));
  }
  COLIBRI_TRY(try_out(std::move(plan)).at(path));
  return print(path + ": sound, " + std::to_string(tensors) + " tensors\n");
}

}  // namespace

void add_verify_command(CLI::App& app, Invocation& invocation) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "verify", "Compare all of a .colibri file with its checksums, and compute a few tokens");
  command->add_option("FILE", *path, "The .colibri file")->required();
  command->callback([path, &invocation] {
    if (Status status = verify(*path); !status.ok()) invocation.fail(status, kFailed);
  });
}

}  // namespace colibri::cli
