// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/session.h"

#include <algorithm>
#include <utility>

namespace colibri::chat {
namespace {

std::string_view without_newlines(std::string_view text, bool both_ends) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (both_ends && text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// What the template shows of an answer later: reasoning under the key that templates look for.
Json message_of(const std::string& reasoning, const std::string& answer) {
  if (reasoning.empty()) return {{"role", "assistant"}, {"content", answer}};
  return {{"role", "assistant"},
          {"content", without_newlines(answer, false)},
          {"reasoning_content", without_newlines(reasoning, true)}};
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const engine::Model& model) {
  const engine::Plan& plan = model.plan();
  COLIBRI_ASSIGN(const engine::Tokenizer* tokenizer, plan.required_tokenizer());
  COLIBRI_ASSIGN(ChatTemplate chat_template,
                 ChatTemplate::open(plan.pipeline, *plan.source, *tokenizer));
  std::unique_ptr<Session> session(new Session(model, std::move(chat_template)));
  COLIBRI_ASSIGN(session->context_, model.create_context(plan.max_tokens));
  COLIBRI_ASSIGN(engine::SamplerChain sampler, model.create_sampler());
  session->sampler_ = std::make_unique<engine::SamplerChain>(std::move(sampler));
  session->generator_ =
      std::make_unique<engine::Generator>(*session->context_, *session->sampler_, tokenizer,
                                          session->stop_ids(), plan.pipeline.generate.stop);
  return session;
}

void Session::reset() {
  messages_ = Json::array();
  if (!system_.empty()) messages_.push_back({{"role", "system"}, {"content", system_}});
}

void Session::set_system(std::string text) {
  system_ = std::move(text);
  reset();
}

// The ids that end an answer: what the checkpoint names, and, if the template ends an answer with
// none of those, the special token that it does end it with.
std::vector<int32_t> Session::stop_ids() const {
  std::vector<int32_t> ids = model_.spec().eos;
  const engine::Tokenizer& tokenizer = *model_.tokenizer();
  for (const int32_t id : tokenizer.special("eos")) ids.push_back(id);
  static constexpr const char* kProbe = "colibri probe";
  Conversation probe;
  probe.messages = {{{"role", "user"}, {"content", "x"}},
                    {{"role", "assistant"}, {"content", kProbe}}};
  probe.add_generation_prompt = false;
  const Result<Text> rendered = template_.render(probe);
  if (!rendered.ok()) return ids;  // a template may refuse the probe
  const size_t end = rendered->view().rfind(kProbe);
  if (end == std::string_view::npos) return ids;
  const auto behind = tokenizer.encode(
      rendered->view().substr(end + std::string_view(kProbe).size()), COLIBRI_ENCODE_PARSE_SPECIAL);
  if (!behind.ok()) return ids;
  const auto ends = [&](int32_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
  if (std::any_of(behind->begin(), behind->end(), ends)) return ids;
  const auto first = std::find_if(behind->begin(), behind->end(),
                                  [&](int32_t id) { return tokenizer.is_special(id); });
  if (first != behind->end()) ids.push_back(*first);
  return ids;
}

Result<std::vector<int32_t>> Session::prompt_of(const Conversation& conversation,
                                                std::string* text) const {
  COLIBRI_ASSIGN(const Text rendered, template_.render(conversation));
  *text = rendered.view();
  COLIBRI_ASSIGN(std::vector<int32_t> ids, encode(*model_.tokenizer(), rendered));
  if (ids.empty()) return invalid_argument("the chat template makes no token of this conversation");
  if (static_cast<int64_t>(ids.size()) > context_->max_tokens()) {
    return invalid_argument("the conversation has " + std::to_string(ids.size()) +
                            " tokens and the context holds " +
                            std::to_string(context_->max_tokens()) +
                            "; begin anew with /reset, or raise context.max_tokens (-c)");
  }
  return ids;
}

Status Session::answer(std::string user, const engine::RunLimits& limits, OnText on_text,
                       engine::GenerateResult* result) {
  *result = {};
  Conversation conversation;
  conversation.messages = messages_;
  conversation.messages.push_back({{"role", "user"}, {"content", std::move(user)}});
  std::string prompt;
  COLIBRI_ASSIGN(const std::vector<int32_t> ids, prompt_of(conversation, &prompt));

  const auto same = std::mismatch(ids.begin(), ids.end(), sequence_.begin(), sequence_.end());
  engine::GenerateSettings settings;
  settings.max_tokens = model_.plan().pipeline.generate.max_tokens;
  settings.seed = model_.plan().pipeline.generate.seed;
  // At least one id is computed: its logits are where the answer begins.
  settings.reused = static_cast<uint32_t>(
      std::min<size_t>(static_cast<size_t>(same.first - ids.begin()), ids.size() - 1));

  AnswerParts parts(prompt);
  std::string said[2];
  bool go_on = true;
  const auto emit = [&](Part part, std::string_view text) {
    said[part == Part::kAnswer] += text;
    go_on = on_text(part, text) && go_on;
  };
  sequence_ = ids;
  const engine::Tokenizer& tokenizer = *model_.tokenizer();
  Status status = generator_->run(
      ids, settings, limits,
      [&](int32_t id, std::string_view text) {
        sequence_.push_back(id);
        parts.push(tokenizer.is_special(id) ? tokenizer.token_bytes(id) : "", text, emit);
        return go_on;
      },
      result);
  sequence_.resize(std::min(sequence_.size(), static_cast<size_t>(context_->tokens())));
  parts.finish(emit);
  if (!status.ok() && result->generated_tokens == 0) return status;
  messages_ = std::move(conversation.messages);
  messages_.push_back(message_of(said[0], said[1]));
  return status;
}

}  // namespace colibri::chat
