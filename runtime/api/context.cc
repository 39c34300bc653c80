// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <span>

#include "runtime/api/objects.h"

namespace colibri::api {

Result<engine::RunLimits> limits_of(const colibri_run_params* params) {
  engine::RunLimits limits;
  if (has(params, &colibri_run_params::threads)) limits.threads = params->threads;
  if (has(params, &colibri_run_params::deadline_seconds) && params->deadline_seconds != 0) {
    const double seconds = params->deadline_seconds;
    if (!(seconds > 0) || seconds > 1e9) {
      return invalid_argument("deadline_seconds must be 0 (none) or between 0 and 1e9, got " +
                              std::to_string(seconds));
    }
    limits.deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                               std::chrono::duration<double>(seconds));
  }
  if (has(params, &colibri_run_params::cancel)) limits.cancel = params->cancel;
  return limits;
}

}  // namespace colibri::api

using colibri::Status;
namespace api = colibri::api;
namespace engine = colibri::engine;

colibri_status colibri_init_context(colibri_model* model, uint32_t max_tokens,
                                    colibri_context** context, colibri_error* error) {
  return colibri::guard(error, [&]() -> Status {
    if (model == nullptr || context == nullptr) {
      return colibri::invalid_argument("colibri_init_context: model and context must not be NULL");
    }
    *context = nullptr;
    auto made = std::make_unique<colibri_context>();
    made->owner = model;
    const int64_t wanted = max_tokens == 0 ? model->model->plan().max_tokens : max_tokens;
    COLIBRI_ASSIGN(made->context, model->model->create_context(wanted));
    *context = made.release();
    return {};
  });
}

void colibri_free_context(colibri_context* context) {
  delete context;
}

void colibri_reset_context(colibri_context* context) {
  context->context->reset();
}

uint32_t colibri_context_tokens(const colibri_context* context) {
  return static_cast<uint32_t>(context->context->tokens());
}

namespace {

Status check_context(const colibri_context* context) {
  if (context != nullptr) return {};
  return colibri::invalid_argument("context must not be NULL: make one with colibri_init_context");
}

Status forward(colibri_context* context, std::span<const int32_t> ids, engine::LogitsOf which,
               float* logits, const colibri_run_params* params) {
  if (logits == nullptr || (ids.data() == nullptr && !ids.empty())) {
    return colibri::invalid_argument("ids and logits must not be NULL");
  }
  COLIBRI_ASSIGN(const engine::RunLimits limits, api::limits_of(params));
  return context->context->forward(ids, which, logits, limits);
}

}  // namespace

colibri_status colibri_run_inference(colibri_context* context, const int32_t* ids, size_t n,
                                     float* logits, const colibri_run_params* params,
                                     colibri_error* error) {
  return colibri::guard(error, [&]() -> Status {
    COLIBRI_TRY(check_context(context));
    context->context->reset();
    return forward(context, {ids, n}, engine::LogitsOf::kLast, logits, params);
  });
}

colibri_status colibri_forward(colibri_context* context, const int32_t* ids, size_t n,
                               float* logits, const colibri_run_params* params,
                               colibri_error* error) {
  return colibri::guard(error, [&]() -> Status {
    COLIBRI_TRY(check_context(context));
    return forward(context, {ids, n}, engine::LogitsOf::kAll, logits, params);
  });
}

namespace {

Status prepare_generator(colibri_context* context) {
  if (context->generator != nullptr) return {};
  const engine::Model& model = *context->owner->model;
  const auto& settings = model.plan().pipeline.generate;
  if (model.tokenizer() == nullptr && !settings.stop.empty()) {
    return colibri::unsupported(
        "generate.stop needs a tokenizer and this model has none; remove it");
  }
  COLIBRI_ASSIGN(engine::SamplerChain sampler, model.create_sampler());
  context->sampler = std::make_unique<engine::SamplerChain>(std::move(sampler));
  context->generator = std::make_unique<engine::Generator>(
      *context->context, *context->sampler, model.tokenizer(), model.spec().eos, settings.stop);
  return {};
}

uint32_t stop_code(engine::StopReason reason) {
  switch (reason) {
    case engine::StopReason::kEos:
      return COLIBRI_STOP_EOS;
    case engine::StopReason::kStopString:
      return COLIBRI_STOP_STRING;
    case engine::StopReason::kLength:
      return COLIBRI_STOP_LENGTH;
    case engine::StopReason::kCallback:
      return COLIBRI_STOP_CALLBACK;
    case engine::StopReason::kCancelled:
      return COLIBRI_STOP_CANCELLED;
  }
  return 0;
}

}  // namespace

colibri_status colibri_generate(colibri_context* context, const int32_t* ids, size_t n,
                                const colibri_run_params* params, colibri_token_callback callback,
                                void* user, colibri_generate_result* result, colibri_error* error) {
  return colibri::guard(error, [&]() -> Status {
    COLIBRI_TRY(check_context(context));
    if (callback == nullptr || (ids == nullptr && n > 0)) {
      return colibri::invalid_argument("colibri_generate: ids and callback must not be NULL");
    }
    COLIBRI_ASSIGN(const engine::RunLimits limits, api::limits_of(params));
    COLIBRI_TRY(prepare_generator(context));
    const auto& pipeline = context->owner->model->plan().pipeline.generate;
    engine::GenerateResult made;
    Status status = context->generator->run(
        {ids, n}, {pipeline.max_tokens, pipeline.seed}, limits,
        [&](int32_t id, std::string_view text) {
          return callback(user, id, colibri::to_c(text)) == 0;
        },
        &made);
    using Out = colibri_generate_result;
    if (api::has(result, &Out::stop_reason)) result->stop_reason = stop_code(made.stop);
    if (api::has(result, &Out::prompt_tokens)) result->prompt_tokens = made.prompt_tokens;
    if (api::has(result, &Out::generated_tokens)) result->generated_tokens = made.generated_tokens;
    return status;
  });
}
