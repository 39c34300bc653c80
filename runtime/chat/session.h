// SPDX-License-Identifier: Apache-2.0
// Session: a conversation with a model. The key-value cache is kept between turns: of the next
// prompt, only what differs from the sequence so far is computed.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/function_ref.h"
#include "runtime/chat/answer_parts.h"
#include "runtime/chat/chat_template.h"
#include "runtime/engine/generator.h"
#include "runtime/engine/model.h"

namespace colibri::chat {

// Used by one thread at a time.
class Session {
 public:
  // The model must outlive it. Fails if the model has no tokenizer or no usable template.
  static Result<std::unique_ptr<Session>> open(const engine::Model& model);

  // Forgets the conversation, but not the system message.
  void reset();
  // The text before all messages; empty = none. Begins a new conversation.
  void set_system(std::string text);
  const ChatTemplate& chat_template() const { return template_; }

  // A piece of the answer; false ends it.
  using OnText = FunctionRef<bool(Part part, std::string_view text)>;
  // Answers what the user says; both then belong to the conversation. A failure before the first
  // token (the template refuses it, the context is too small) leaves the conversation as it was; an
  // answer that was cancelled or failed later stays as far as it came.
  Status answer(std::string user, const engine::RunLimits& limits, OnText on_text,
                engine::GenerateResult* result);
  bool context_is_full() const { return context_->tokens() >= context_->max_tokens(); }

 private:
  Session(const engine::Model& model, ChatTemplate chat_template)
      : model_(model), template_(std::move(chat_template)) {}
  Result<std::vector<int32_t>> prompt_of(const Conversation& conversation, std::string* text) const;
  std::vector<int32_t> stop_ids() const;

  const engine::Model& model_;
  ChatTemplate template_;
  std::unique_ptr<engine::Context> context_;
  std::unique_ptr<engine::SamplerChain> sampler_;
  std::unique_ptr<engine::Generator> generator_;
  std::string system_;
  Json messages_ = Json::array();
  std::vector<int32_t> sequence_;  // what the context holds
};

}  // namespace colibri::chat
