// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/generator.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace colibri::engine {
namespace {

constexpr size_t kTextBytes = 16384;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

const char* stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kEos:
      return "end of text";
    case StopReason::kStopString:
      return "stop string";
    case StopReason::kLength:
      return "length";
    case StopReason::kCallback:
      return "callback";
    case StopReason::kCancelled:
      return "cancelled";
  }
  return "";
}

Generator::Generator(Context& context, SamplerChain& sampler, const Tokenizer* tokenizer,
                     std::vector<int32_t> eos, std::vector<std::string> stop)
    : context_(context),
      sampler_(sampler),
      eos_(std::move(eos)),
      stops_(std::move(stop)),
      logits_(static_cast<size_t>(context.vocabulary())) {
  std::sort(eos_.begin(), eos_.end());
  if (tokenizer != nullptr) decoder_.emplace(*tokenizer, true);
  text_.reserve(kTextBytes);
}

Status Generator::run(std::span<const int32_t> ids, const GenerateSettings& settings,
                      const RunLimits& limits, Callback callback, GenerateResult* result) {
  *result = {};
  result->prompt_tokens = static_cast<uint32_t>(ids.size());
  context_.truncate(settings.reused);
  sampler_.reset(settings.seed);
  stops_.reset();
  if (decoder_) decoder_->reset();
  const auto start = Clock::now();
  Status status =
      context_.forward(ids.subspan(settings.reused), LogitsOf::kLast, logits_.data(), limits);
  result->prefill_seconds = seconds_since(start);
  if (status.ok()) {
    for (const int32_t id : ids) sampler_.accept(id);
    const auto decode_start = Clock::now();
    status = loop(settings, limits, callback, *result);
    const double all = seconds_since(decode_start);
    result->decode_seconds = all - result->first_token_seconds;
    result->first_token_seconds += result->prefill_seconds;
  }
  if (status.code() == COLIBRI_CANCELLED) result->stop = StopReason::kCancelled;
  return status;
}

Status Generator::loop(const GenerateSettings& settings, const RunLimits& limits, Callback callback,
                       GenerateResult& result) {
  const auto start = Clock::now();
  result.stop = StopReason::kLength;
  while (result.generated_tokens < settings.max_tokens) {
    COLIBRI_TRY(limits.check());
    COLIBRI_ASSIGN(const int32_t id, sampler_.sample(logits_.data()));
    sampler_.accept(id);
    ++result.generated_tokens;
    const bool eos = std::binary_search(eos_.begin(), eos_.end(), id);
    const bool full = context_.tokens() == context_.max_tokens();
    const bool last = eos || full || result.generated_tokens == settings.max_tokens;
    COLIBRI_ASSIGN(const std::string_view text, text_of(id, eos, last));
    const bool go_on = callback(id, text);
    if (result.generated_tokens == 1) result.first_token_seconds = seconds_since(start);
    if (eos) result.stop = StopReason::kEos;
    if (stops_.stopped()) result.stop = StopReason::kStopString;
    if (last || stops_.stopped()) break;
    if (!go_on) {
      result.stop = StopReason::kCallback;
      break;
    }
    COLIBRI_TRY(context_.forward({&id, 1}, LogitsOf::kLast, logits_.data(), limits));
  }
  return {};
}

Result<std::string_view> Generator::text_of(int32_t id, bool eos, bool last) {
  text_.clear();
  if (!decoder_) return std::string_view();
  if (!eos) {
    COLIBRI_ASSIGN(const std::string_view piece, decoder_->next(id));
    text_ += stops_.push(piece);
  }
  if (last && !stops_.stopped()) {
    COLIBRI_ASSIGN(const std::string_view rest, decoder_->finish());
    text_ += stops_.push(rest);
    if (!stops_.stopped()) text_ += stops_.finish();
  }
  return std::string_view(text_);
}

}  // namespace colibri::engine
