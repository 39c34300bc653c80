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
#include "runtime/model/codecs.h"

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

// The model that a file was made from, with the file's codec for routers.
Result<std::unique_ptr<engine::Plan>> plan_source(const std::string& path,
                                                  const model::ModelSource& file) {
  std::vector<config::Override> overrides;
  for (const model::TensorEntry& tensor : file.tensors()) {
    if (!tensor.name.ends_with(".router")) continue;
    overrides.push_back({"model.quantize.router", model::codec_name(tensor.codec), "--source"});
    break;
  }
  COLIBRI_ASSIGN(config::Pipeline pipeline, config::default_pipeline(path, overrides));
  return engine::Plan::make(std::move(pipeline));
}

Status verify(const std::string& path, const std::string& source) {
  COLIBRI_ASSIGN(config::Pipeline pipeline, config::default_pipeline(path, {}));
  COLIBRI_ASSIGN(auto plan, engine::Plan::make(std::move(pipeline)));
  const size_t tensors = plan->source->tensors().size();
  {
    ProgressLine line;
    COLIBRI_TRY(
        convert::verify(*plan->source, [&](uint64_t done, uint64_t all) { line.show(done, all); }));
  }
  if (!source.empty()) {
    COLIBRI_ASSIGN(const auto made_from, plan_source(source, *plan->source));
    COLIBRI_TRY(convert::verify_routers(*plan->source, *made_from));
  }
  COLIBRI_TRY(try_out(std::move(plan)).at(path));
  return print(path + ": sound, " + std::to_string(tensors) + " tensors\n");
}

}  // namespace

void add_verify_command(CLI::App& app, Invocation& invocation) {
  auto path = std::make_shared<std::string>(), source = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "verify", "Compare all of a .colibri file with its checksums, and compute a few tokens");
  command->add_option("FILE", *path, "The .colibri file")->required();
  command
      ->add_option("--source", *source,
                   "The model it was made from: compare the routers with its own, too")
      ->type_name("MODEL");
  command->callback([path, source, &invocation] {
    if (Status status = verify(*path, *source); !status.ok()) invocation.fail(status, kFailed);
  });
}

}  // namespace colibri::cli
