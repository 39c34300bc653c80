// SPDX-License-Identifier: Apache-2.0
// colibri chat: a conversation, streamed.
#include "runtime/cli/chat_command.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "runtime/chat/session.h"
#include "runtime/cli/chat_input.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/pipeline_options.h"
#include "runtime/config/problem.h"

namespace colibri::cli {
namespace {

constexpr const char* kHelp =
    "  /reset         begin a new conversation; the system message stays\n"
    "  /system TEXT   set the system message and begin a new conversation\n"
    "  /help          this help\n"
    "  /exit          leave, as Ctrl-D does\n"
    "A line that ends with \\ goes on in the next one; lines between \"\"\" and \"\"\" are one\n"
    "message. Ctrl-C stops an answer.\n";

// Writes an answer: the answer itself to standard output, reasoning dimmed on a terminal, and to
// standard error where standard output is not one.
class Screen {
 public:
  bool write(chat::Part part, std::string_view text) {
    const bool reasoning = part == chat::Part::kReasoning;
    if (reasoning != reasoning_) turn(reasoning);
    if (reasoning && !terminal_) {
      std::fprintf(stderr, "%.*s", static_cast<int>(text.size()), text.data());
    } else if (status_.ok()) {
      status_ = print(std::string(text));
      if (status_.ok()) status_ = flush_output();
    }
    if (!text.empty()) line_open_ = text.back() != '\n';
    return status_.ok();
  }

  Status finish() {
    if (reasoning_) turn(false);
    if (line_open_ && status_.ok()) status_ = print("\n");
    line_open_ = false;
    return status_.ok() ? flush_output() : status_;
  }

 private:
  void turn(bool reasoning) {
    reasoning_ = reasoning;
    const bool dim = isatty(terminal_ ? STDOUT_FILENO : STDERR_FILENO) != 0;
    const std::string mark =
        (!reasoning && line_open_ ? std::string("\n") : std::string()) + (!dim        ? ""
                                                                          : reasoning ? "\033[2m"
                                                                                      : "\033[0m");
    if (terminal_) {
      if (status_.ok()) status_ = print(mark);
    } else {
      std::fprintf(stderr, "%s", mark.c_str());
    }
    line_open_ = false;
  }

  const bool terminal_ = isatty(STDOUT_FILENO) != 0;
  bool reasoning_ = false;
  bool line_open_ = true;  // an empty answer is an empty line
  Status status_;
};

void tell(const std::string& text) {
  std::fprintf(stderr, "colibri: %s\n", text.c_str());
}

// Why an answer is not whole.
void tell_stop(const chat::Session& session, const engine::GenerateResult& result) {
  if (result.stop == engine::StopReason::kCancelled) tell("the answer was stopped");
  if (result.stop != engine::StopReason::kLength) return;
  if (session.context_is_full()) {
    tell(
        "the answer was cut: the context is full; begin anew with /reset, or raise "
        "context.max_tokens (-c)");
  } else {
    tell("the answer was cut after " + std::to_string(result.generated_tokens) +
         " tokens; raise generate.max_tokens (-n)");
  }
}

Status answer(chat::Session& session, std::string message) {
  const Interrupt interrupt;
  engine::RunLimits limits;
  limits.cancel = interrupt.flag();
  engine::GenerateResult result;
  Screen screen;
  Status status = session.answer(
      std::move(message), limits,
      [&](chat::Part part, std::string_view text) { return screen.write(part, text); }, &result);
  if (status.ok() || result.generated_tokens > 0) COLIBRI_TRY(screen.finish());
  if (status.ok() || status.code() == COLIBRI_CANCELLED) {
    tell_stop(session, result);
    return {};
  }
  return status;
}

// False = leave.
Result<bool> obey(chat::Session& session, const std::string& command) {
  const size_t space = command.find(' ');
  const std::string name = command.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : command.substr(space + 1);
  if (name == "exit") return false;
  if (name == "reset") {
    session.reset();
  } else if (name == "system") {
    session.set_system(rest);
  } else if (name == "help") {
    std::fprintf(stderr, "%s", kHelp);
  } else {
    return invalid_argument("unknown command " + config::quote("/" + name) +
                            config::suggestion(name, {"exit", "help", "reset", "system"}) +
                            "; put a message that begins with / between \"\"\"");
  }
  return true;
}

// One message or command. False = leave.
Result<bool> step(chat::Session& session, ChatReader& reader) {
  COLIBRI_ASSIGN(const ChatInput input, reader.next());
  switch (input.kind) {
    case ChatInput::Kind::kMessage:
      COLIBRI_TRY(answer(session, input.text));
      return true;
    case ChatInput::Kind::kCommand:
      return obey(session, input.text);
    case ChatInput::Kind::kInterrupted:
      std::fprintf(stderr, "\n");
      tell("Ctrl-D or /exit leaves");
      return true;
    case ChatInput::Kind::kEnd:
      return false;
  }
  return false;
}

void chat(const PipelineOptions& options, Invocation& invocation) {
  const auto opened = [&]() -> Result<std::unique_ptr<engine::Model>> {
    COLIBRI_ASSIGN(config::Pipeline pipeline, options.open());
    COLIBRI_ASSIGN(auto plan, engine::Plan::make(std::move(pipeline)));
    return engine::Model::load(std::move(plan));
  }();
  if (!opened.ok()) return invocation.fail(opened.status(), kRefused);
  const auto session = chat::Session::open(**opened);
  if (!session.ok()) return invocation.fail(session.status(), kRefused);
  ChatReader reader("> ");
  if (reader.interactive()) std::fprintf(stderr, "Type a message, or /help.\n");
  for (;;) {
    const Result<bool> go_on = step(**session, reader);
    if (go_on.ok() && !*go_on) break;
    if (go_on.ok()) continue;
    // The session goes on; a script learns of it by the exit code.
    if (go_on.status().code() == COLIBRI_IO) return invocation.fail(go_on.status(), kFailed);
    tell(go_on.status().text());
    if (!reader.interactive()) invocation.exit_code = kFailed;
  }
  if (reader.interactive()) std::fprintf(stderr, "\n");
}

}  // namespace

void add_chat_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PipelineOptions>();
  CLI::App* command = app.add_subcommand("chat", "Talk with a model");
  options->add_to(*command);
  options->add_settings_to(*command);
  command->callback([options, &invocation] { chat(*options, invocation); });
}

}  // namespace colibri::cli
