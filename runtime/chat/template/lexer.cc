// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/lexer.h"

#include <optional>
#include <utility>

#include "runtime/base/utf8.h"
#include "runtime/chat/template/characters.h"
#include "runtime/chat/template/string_literal.h"

namespace colibri::chat {
namespace {

using Kind = Token::Kind;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text()) {}

  Result<std::vector<Token>> run() {
    while (at_ < text_.size()) COLIBRI_TRY(next_tag());
    add(Kind::kEnd, "", text_.size());
    return std::move(tokens_);
  }

 private:
  void add(Kind kind, std::string text, size_t at) {
    tokens_.push_back({kind, std::move(text), at});
  }
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool here(std::string_view what, size_t i) const { return text_.substr(i).starts_with(what); }
  size_t behind_spaces(size_t i) const { return i + leading(text_.substr(i), is_space); }

  // The data up to the next tag, and the tag.
  Status next_tag() {
    size_t open = at_;
    for (;; ++open) {
      open = text_.find('{', open);
      if (open == text_.npos) {
        add(Kind::kData, std::string(text_.substr(at_)), at_);
        at_ = text_.size();
        return {};
      }
      const char second = at(open + 1);
      if (second == '%' || second == '{' || second == '#') break;
    }
    const char kind = text_[open + 1];
    const char mark = at(open + 2);
    const bool marked = mark == '-' || mark == '+';
    add_data(open, marked ? mark : '\0', kind != '{');
    at_ = open + (marked ? 3 : 2);
    if (kind == '#') return comment(open);
    if (kind == '%') {
      if (const auto body = raw_body(at_)) return raw(open, *body);
    }
    return tag(open, kind == '{');
  }

  // Data from at_ to `end`, where a tag with this mark begins.
  void add_data(size_t end, char mark, bool lstrip) {
    std::string_view data = text_.substr(at_, end - at_);
    if (mark == '-') {
      data.remove_suffix(trailing(data, is_space));
    } else if (mark != '+' && lstrip) {
      const size_t line = data.rfind('\n') + 1;  // npos + 1 = 0
      const bool begins_line = line > 0 || line_starting_;
      if (begins_line && leading(data.substr(line), is_space) == data.size() - line) {
        data = data.substr(0, line);
      }
    }
    if (!data.empty()) add(Kind::kData, std::string(data), at_);
  }

  // Behind the end of a block or comment at `end`, which has this mark.
  void leave(size_t end, char mark) {
    at_ = end;
    if (mark == '-') {
      at_ = behind_spaces(end);
    } else if (mark != '+' && at(end) == '\n') {
      ++at_;
    }
    line_starting_ = at_ > end && text_[at_ - 1] == '\n';
  }

  Status comment(size_t open) {
    const size_t close = text_.find("#}", at_);
    if (close == text_.npos) return source_.error(open, "this comment has no end");
    const char mark = close > at_ ? text_[close - 1] : '\0';
    leave(close + 2, mark);
    return {};
  }

  // Where the body of {% raw %} begins, if `i` stands behind the opening of one.
  std::optional<size_t> raw_body(size_t i) const {
    i = behind_spaces(i);
    if (!here("raw", i)) return std::nullopt;
    i = behind_spaces(i + 3);
    if (here("-%}", i)) return behind_spaces(i + 3);
    if (here("%}", i)) return i + 2;
    return std::nullopt;
  }

  Status raw(size_t open, size_t body) {
    at_ = body;
    line_starting_ = text_[body - 1] == '\n';
    for (size_t end = text_.find("{%", body); end != text_.npos; end = text_.find("{%", end + 1)) {
      const char mark = at(end + 2);
      const bool marked = mark == '-' || mark == '+';
      size_t i = behind_spaces(end + (marked ? 3 : 2));
      if (!here("endraw", i)) continue;
      i = behind_spaces(i + 6);
      const char end_mark = at(i);
      if (end_mark == '-' || end_mark == '+') ++i;
      if (!here("%}", i)) continue;
      add_data(end, marked ? mark : '\0', true);
      leave(i + 2, end_mark);
      return {};
    }
    return source_.error(open, "'raw' has no 'endraw'");
  }

  // The inside of {{ }} or {% %}.
  Status tag(size_t open, bool print) {
    add(print ? Kind::kPrintBegin : Kind::kBlockBegin, "", open);
    const std::string_view close = print ? "}}" : "%}";
    std::string brackets;
    for (;;) {
      at_ = behind_spaces(at_);
      if (at_ >= text_.size()) {
        return source_.error(open, std::string("this ") + (print ? "'{{'" : "'{%'") +
                                       " has no end; '" + std::string(close) + "' is missing");
      }
      if (brackets.empty()) {
        const char mark = text_[at_];
        const bool marked = mark == '-' || (mark == '+' && !print);
        const size_t end = at_ + (marked ? 1 : 0);
        if (here(close, end)) {
          add(print ? Kind::kPrintEnd : Kind::kBlockEnd, "", at_);
          leave(end + 2, print && !marked ? '+' : marked ? mark : '\0');
          return {};
        }
      }
      COLIBRI_TRY(token(brackets));
    }
  }

  Status token(std::string& brackets) {
    const size_t start = at_;
    const char c = text_[at_];
    if (c == '"' || c == '\'') return string();
    if (is_digit(c)) return number();
    if (is_name_start(c)) {
      while (is_name_start(at(at_)) || is_digit(at(at_))) ++at_;
      add(Kind::kName, std::string(text_.substr(start, at_ - start)), start);
      return {};
    }
    static constexpr std::string_view kOperators[] = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (const std::string_view op : kOperators) {
      if (!here(op, at_)) continue;
      COLIBRI_TRY(balance(op, brackets));
      at_ += op.size();
      add(Kind::kOperator, std::string(op), start);
      return {};
    }
    const size_t n = utf8::decode(text_, at_).size;
    return source_.error(start, "unexpected character " + utf8::printable(text_.substr(at_, n)));
  }

  // `brackets`: what must close, innermost last.
  Status balance(std::string_view op, std::string& brackets) const {
    static constexpr std::string_view kOpen = "([{", kClose = ")]}";
    if (const size_t open = kOpen.find(op); open != kOpen.npos) {
      brackets += kClose[open];
    } else if (kClose.find(op) != kClose.npos) {
      const std::string unexpected = "unexpected '" + std::string(op) + "'";
      if (brackets.empty()) return source_.error(at_, unexpected);
      if (brackets.back() != op[0]) {
        return source_.error(at_, unexpected + ", expected '" + brackets.back() + "'");
      }
      brackets.pop_back();
    }
    return {};
  }

  Status string() {
    const size_t start = at_;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return source_.error(start, "this text has no closing quote");
    const auto meant = unescape(text_.substr(start + 1, at_ - start - 1));
    if (!meant.ok()) return source_.error(start, meant.status().text());
    ++at_;
    add(Kind::kString, *meant, start);
    return {};
  }

  // Digits with single underscores between them.
  void digits(bool (*is)(char)) {
    while (is(at(at_)) || (at(at_) == '_' && is(at(at_ + 1)))) ++at_;
  }

  Status number() {
    const size_t start = at_;
    bool real = false;
    const char prefix = static_cast<char>(at(at_ + 1) | 0x20);
    if (text_[at_] == '0' && (prefix == 'x' || prefix == 'o' || prefix == 'b')) {
      at_ += 2;
      digits([](char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); });
    } else {
      digits(is_digit);
      if (at(at_) == '.' && is_digit(at(at_ + 1))) {
        real = true;
        ++at_;
        digits(is_digit);
      }
      const size_t sign = at(at_ + 1) == '-' || at(at_ + 1) == '+' ? 1 : 0;
      if ((at(at_) == 'e' || at(at_) == 'E') && is_digit(at(at_ + 1 + sign))) {
        real = true;
        at_ += 1 + sign;
        digits(is_digit);
      }
    }
    add(real ? Kind::kFloat : Kind::kInteger, std::string(text_.substr(start, at_ - start)), start);
    return {};
  }

  const Source& source_;
  const std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool line_starting_ = true;
};

}  // namespace

Result<std::vector<Token>> tokens_of(const Source& source) {
  return Lexer(source).run();
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Kind::kData:
      return "text of the template";
    case Kind::kPrintBegin:
      return "'{{'";
    case Kind::kPrintEnd:
      return "'}}'";
    case Kind::kBlockBegin:
      return "'{%'";
    case Kind::kBlockEnd:
      return "'%}'";
    case Kind::kString:
      return "the text " + utf8::printable(token.text);
    case Kind::kEnd:
      return "the end of the template";
    default:
      return utf8::printable(token.text);
  }
}

}  // namespace colibri::chat
