// SPDX-License-Identifier: Apache-2.0
// The tokens of a template, with Jinja's control of white space applied: trim_blocks (the line end
// behind a block goes), lstrip_blocks (spaces before a block that begins its line go), and the
// marks `-` and `+`.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/chat/template/source.h"

namespace colibri::chat {

struct Token {
  enum class Kind {
    kData,  // text between tags
    kPrintBegin,
    kPrintEnd,
    kBlockBegin,
    kBlockEnd,
    kName,
    kString,  // text: what it stands for
    kInteger,
    kFloat,
    kOperator,
    kEnd
  };
  Kind kind;
  std::string text;
  size_t at;  // byte of the source
};

Result<std::vector<Token>> tokens_of(const Source& source);

// "'foo'", "a text", "the end of the template": for messages.
std::string describe(const Token& token);

}  // namespace colibri::chat
