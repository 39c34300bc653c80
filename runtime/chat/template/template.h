// SPDX-License-Identifier: Apache-2.0
// Template: a chat template, compiled. The language is the part of Jinja that chat templates use,
// with transformers' settings and additions: trim_blocks, lstrip_blocks, break and continue,
// generation blocks, tojson without HTML escapes, raise_exception, strftime_now.
// docs/chat.md lists it all.
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/chat/template/evaluator.h"
#include "runtime/chat/template/source.h"
#include "runtime/chat/template/syntax.h"

namespace colibri::chat {

// Immutable: any number of threads may render it at the same time.
class Template {
 public:
  // Refuses what is no template of this language, with "name:line:column".
  static Result<Template> compile(std::string name, std::string_view source);

  // The text, each byte marked as the template's own or not (see Text). `now` is what strftime_now
  // tells. Fails, with the place in the template, where Jinja would raise an error, where the
  // template itself raises one, and where the budget is used up. Values of `variables` were charged
  // to the same budget.
  Result<Text> render(const Variables& variables, const std::tm& now, Budget& budget) const;

 private:
  Template(Source source, Block block) : source_(std::move(source)), block_(std::move(block)) {}

  Source source_;
  Block block_;
};

}  // namespace colibri::chat
