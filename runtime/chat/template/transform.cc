// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/transform.h"

#include <utility>

#include "runtime/base/utf8.h"
#include "runtime/chat/template/characters.h"
#include "runtime/chat/template/upper_case.h"

namespace colibri::chat {
namespace {

// Calls map(character) for each and joins the texts that it returns.
template <typename Map>
Result<Text> map_characters(Budget& budget, const Text& text, Map map) {
  COLIBRI_TRY(budget.spend_on(text.size()));
  TextBuilder builder(budget);
  size_t at = 0;
  for (const Text::Run& run : text.runs()) {
    std::string piece;
    while (at < run.end) {
      const utf8::Character c = utf8::decode(text.view(), at);
      piece += map(c.code_point);
      at += c.size;
    }
    builder.add(piece, run.trusted);
  }
  return builder.finish();
}

std::string full_lower(char32_t c) {
  if (c == 0x130) return "i\u0307";  // the one whose lower case is two characters
  std::string text;
  append_utf8(text, to_lower(c));
  return text;
}

// Of several characters the first that has a case stays in upper case.
std::string title_case(char32_t c) {
  std::string text;
  if (to_title(c) != c) {
    append_utf8(text, to_title(c));
    return text;
  }
  const std::string upper = full_upper(c);
  bool inside = false;
  for (size_t at = 0; at < upper.size();) {
    const utf8::Character each = utf8::decode(upper, at);
    text += inside ? full_lower(each.code_point) : upper.substr(at, each.size);
    inside = inside || is_cased(each.code_point);
    at += each.size;
  }
  return text;
}

}  // namespace

Text strip(const Text& text, Side side, const Text* characters) {
  const auto drop = [&](char32_t c) {
    if (characters == nullptr) return is_space(c);
    std::string one;
    append_utf8(one, c);
    return characters->view().find(one) != std::string_view::npos;
  };
  const size_t left = side == Side::kRight ? 0 : leading(text.view(), drop);
  const size_t right = side == Side::kLeft ? 0 : trailing(text.view().substr(left), drop);
  return text.part(left, text.size() - left - right);
}

Result<Text> replace(Budget& budget, const Text& text, const Text& from, const Text& to,
                     int64_t most) {
  COLIBRI_TRY(budget.spend_on(text.size()));
  TextBuilder builder(budget);
  size_t at = 0;
  for (int64_t done = 0; most < 0 || done < most; ++done) {
    if (from.empty()) {  // in front of each character and at the end
      builder.add(to);
      if (at == text.size()) break;
      const size_t n = utf8::decode(text.view(), at).size;
      builder.add(text, at, n);
      at += n;
      continue;
    }
    const size_t found = find_text(text.view(), from.view(), at);
    if (found == std::string_view::npos) break;
    builder.add(text, at, found - at);
    builder.add(to);
    at = found + from.size();
    COLIBRI_TRY(budget.spend(1));
  }
  builder.add(text, at, text.size() - at);
  return builder.finish();
}

Result<Text> upper(Budget& budget, const Text& text) {
  return map_characters(budget, text, full_upper);
}
Result<Text> lower(Budget& budget, const Text& text) {
  return map_characters(budget, text, full_lower);
}
Result<Text> swap_case(Budget& budget, const Text& text) {
  return map_characters(
      budget, text, [](char32_t c) { return to_lower(c) != c ? full_lower(c) : full_upper(c); });
}

Result<Text> capitalise(Budget& budget, const Text& text) {
  return map_characters(budget, text, [first = true](char32_t c) mutable {
    return std::exchange(first, false) ? title_case(c) : full_lower(c);
  });
}

Result<Text> title_by_letters(Budget& budget, const Text& text) {
  return map_characters(budget, text, [inside = false](char32_t c) mutable {
    return std::exchange(inside, is_cased(c)) ? full_lower(c) : title_case(c);
  });
}

Result<Text> title_by_spaces(Budget& budget, const Text& text) {
  return map_characters(budget, text, [inside = false](char32_t c) mutable {
    const bool cut = is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
    return std::exchange(inside, !cut) ? full_lower(c) : full_upper(c);
  });
}

std::vector<Text> split_lines(const Text& text, bool keep_ends) {
  std::vector<Text> lines;
  const std::string_view bytes = text.view();
  size_t start = 0;
  for (size_t at = 0; at < bytes.size();) {
    const utf8::Character c = utf8::decode(bytes, at);
    const size_t end = at;
    at += c.size;
    if (!is_line_break(c.code_point)) continue;
    if (c.code_point == '\r' && at < bytes.size() && bytes[at] == '\n') ++at;
    lines.push_back(text.part(start, (keep_ends ? at : end) - start));
    start = at;
  }
  if (start < bytes.size()) lines.push_back(text.part(start, bytes.size() - start));
  return lines;
}

Result<Text> join(Budget& budget, const Text& separator, const std::vector<Text>& parts) {
  COLIBRI_TRY(budget.spend(parts.size()));
  TextBuilder builder(budget);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) builder.add(separator);
    builder.add(parts[i]);
  }
  return builder.finish();
}

}  // namespace colibri::chat
