// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/template.h"

#include <utility>

#include "runtime/chat/template/lexer.h"
#include "runtime/chat/template/parser.h"

namespace colibri::chat {

Result<Template> Template::compile(std::string name, std::string_view source) {
  COLIBRI_ASSIGN(Source text, Source::make(std::move(name), source));
  COLIBRI_ASSIGN(const std::vector<Token> tokens, tokens_of(text));
  COLIBRI_ASSIGN(Block block, Parser(text, tokens).run());
  return Template(std::move(text), std::move(block));
}

Result<Text> Template::render(const Variables& variables, const std::tm& now,
                              Budget& budget) const {
  Host host = {budget, now};
  return Evaluator(source_, host).render(block_, variables);
}

}  // namespace colibri::chat
