// SPDX-License-Identifier: Apache-2.0
// Generation: prompt ids in, tokens and streamed text out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/function_ref.h"
#include "runtime/base/status.h"
#include "runtime/engine/context.h"
#include "runtime/engine/limits.h"
#include "runtime/engine/sampling.h"
#include "runtime/engine/stop_strings.h"
#include "runtime/engine/tokenizer.h"

namespace colibri::engine {

enum class StopReason { kEos, kStopString, kLength, kCallback, kCancelled };
const char* stop_reason_name(StopReason reason);  // "end of text", "stop string", ...

struct GenerateSettings {
  uint32_t max_tokens = 0;
  uint64_t seed = 0;
  uint32_t reused = 0;  // first ids of the prompt that the context already holds; fewer than all
};

struct GenerateResult {
  StopReason stop = StopReason::kLength;
  uint32_t prompt_tokens = 0, generated_tokens = 0;
  double prefill_seconds = 0;      // until the logits of the prompt's last token
  double first_token_seconds = 0;  // until the first callback
  double decode_seconds = 0;       // from there to the end
};

// Used by one thread at a time, as its context is. After the first tokens nothing is allocated.
class Generator {
 public:
  // tokenizer may be null: then there is no text, and stop must be empty. eos: ids that end the
  // text.
  Generator(Context& context, SamplerChain& sampler, const Tokenizer* tokenizer,
            std::vector<int32_t> eos, std::vector<std::string> stop);

  // One generated token and the characters it finished; false ends the generation. The last call
  // brings all text that was held back.
  using Callback = FunctionRef<bool(int32_t id, std::string_view text)>;
  // From a sequence of ids, fresh but for those that are reused. On COLIBRI_CANCELLED and other failures, result (which must not
  // be null) tells how far it came.
  Status run(std::span<const int32_t> ids, const GenerateSettings& settings,
             const RunLimits& limits, Callback callback, GenerateResult* result);

 private:
  Status loop(const GenerateSettings& settings, const RunLimits& limits, Callback callback,
              GenerateResult& result);
  // The text of a token; `last`: also everything held back.
  Result<std::string_view> text_of(int32_t id, bool eos, bool last);

  Context& context_;
  SamplerChain& sampler_;
  std::vector<int32_t> eos_;  // ascending
  std::optional<TextDecoder> decoder_;
  StopStrings stops_;
  std::string text_;  // of the last token
  std::vector<float> logits_;
};

}  // namespace colibri::engine
