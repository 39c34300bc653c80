// SPDX-License-Identifier: Apache-2.0
// Methods of str that cut, join and change texts.
#include <algorithm>

#include "runtime/base/utf8.h"
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/characters.h"
#include "runtime/chat/template/transform.h"

namespace colibri::chat {
namespace {

const Text& subject(Call& call) {
  return std::get<Text>(call.subject);
}

Result<const Text*> text_of(const Value* argument, const char* what) {
  if (argument == nullptr || is_none(*argument)) return static_cast<const Text*>(nullptr);
  if (const Text* text = as_text(*argument)) return text;
  return not_usable(*argument, std::string("is no text for '") + what + "'");
}
Result<const Text*> needed_text(const Value* argument, const char* what) {
  if (argument != nullptr && is_none(*argument)) {
    return invalid_argument(std::string("None is no text for '") + what + "'");
  }
  return text_of(argument, what);
}

Result<Value> as_value(Result<Text> text) {
  if (!text.ok()) return text.status();
  return Value(std::move(*text));
}
Result<Value> as_values(Call& call, std::vector<Text> texts, List::Kind kind = List::Kind::kList) {
  uint64_t bytes = 0;
  for (const Text& text : texts) bytes += text.size();
  COLIBRI_TRY(call.host.budget.allocate(bytes));
  return make_list(call.host.budget, {texts.begin(), texts.end()}, kind);
}

template <Result<Text> (*transform)(Budget&, const Text&)>
Result<Value> changed_by(Call& call) {
  return as_value(transform(call.host.budget, subject(call)));
}

template <Side side>
Result<Value> strip_method(Call& call) {
  COLIBRI_ASSIGN(const Text* characters, text_of(call[0], "chars"));
  const size_t each = characters == nullptr ? 0 : characters->size() / 16;
  COLIBRI_TRY(call.host.budget.spend_on(subject(call).size() * (1 + each)));
  return Value(strip(subject(call), side, characters));
}

// Cuts at white space, at most `most` times (no limit if negative), from the left or the right.
std::vector<Text> split_at_spaces(const Text& text, int64_t most, bool from_right) {
  const auto no_space = [](char32_t c) { return !is_space(c); };
  std::vector<Text> words;
  size_t begin = 0, end = text.size();  // what is not cut yet
  for (;;) {
    const std::string_view rest = text.view().substr(begin, end - begin);
    if (from_right) {
      end -= trailing(rest, is_space);
    } else {
      begin += leading(rest, is_space);
    }
    if (begin == end) break;
    const std::string_view left = text.view().substr(begin, end - begin);
    size_t n = from_right ? trailing(left, no_space) : leading(left, no_space);
    if (most >= 0 && static_cast<int64_t>(words.size()) == most) {
      n = left.size();
    }
    if (from_right) {
      words.push_back(text.part(end - n, n));
      end -= n;
    } else {
      words.push_back(text.part(begin, n));
      begin += n;
    }
  }
  if (from_right) std::reverse(words.begin(), words.end());
  return words;
}

std::vector<Text> split_at(const Text& text, std::string_view separator, int64_t most,
                           bool from_right) {
  std::vector<size_t> cuts;
  const std::string_view bytes = text.view();
  if (from_right) {
    for (size_t end = bytes.size(); most < 0 || static_cast<int64_t>(cuts.size()) < most;) {
      const size_t found = bytes.substr(0, end).rfind(separator);
      if (found == bytes.npos) break;
      cuts.push_back(found);
      end = found;
    }
    std::reverse(cuts.begin(), cuts.end());
  } else {
    for (size_t at = 0; most < 0 || static_cast<int64_t>(cuts.size()) < most;) {
      const size_t found = find_text(bytes, separator, at);
      if (found == bytes.npos) break;
      cuts.push_back(found);
      at = found + separator.size();
    }
  }
  std::vector<Text> parts;
  size_t at = 0;
  for (const size_t cut : cuts) {
    parts.push_back(text.part(at, cut - at));
    at = cut + separator.size();
  }
  parts.push_back(text.part(at, bytes.size() - at));
  return parts;
}

template <bool from_right>
Result<Value> split(Call& call) {
  COLIBRI_ASSIGN(const Text* separator, text_of(call[0], "sep"));
  COLIBRI_ASSIGN(const int64_t most, integer_argument(call[1], -1, "maxsplit"));
  if (separator != nullptr && separator->empty()) return invalid_argument("empty separator");
  const Text& text = subject(call);
  if (separator == nullptr) {
    return as_values(call, split_at_spaces(text, most, from_right));
  }
  if (from_right) COLIBRI_TRY(call.host.budget.spend_on(text.size() * separator->size()));
  return as_values(call, split_at(text, separator->view(), most, from_right));
}

template <bool from_right>
Result<Value> partition(Call& call) {
  COLIBRI_ASSIGN(const Text* separator, needed_text(call[0], "sep"));
  if (separator->empty()) return invalid_argument("empty separator");
  const Text& text = subject(call);
  if (from_right) COLIBRI_TRY(call.host.budget.spend_on(text.size() * separator->size()));
  std::vector<Text> parts = split_at(text, separator->view(), 1, from_right);
  if (parts.size() == 2) {
    parts.insert(parts.begin() + 1, *separator);
  } else {
    parts.insert(from_right ? parts.begin() : parts.end(), 2, Text());
  }
  return as_values(call, std::move(parts), List::Kind::kTuple);
}

Result<Value> splitlines(Call& call) {
  return as_values(call, split_lines(subject(call), call[0] != nullptr && truth(*call[0])));
}

Result<Value> join_method(Call& call) {
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(call.host.budget, *call[0]));
  std::vector<Text> parts;
  for (const Value& item : items) {
    if (!as_text(item)) return not_usable(item, "is no text: join joins only texts");
    parts.push_back(*as_text(item));
  }
  return as_value(join(call.host.budget, subject(call), parts));
}

Result<Value> replace_method(Call& call) {
  COLIBRI_ASSIGN(const Text* from, needed_text(call[0], "old"));
  COLIBRI_ASSIGN(const Text* to, needed_text(call[1], "new"));
  COLIBRI_ASSIGN(const int64_t most, integer_argument(call[2], -1, "count"));
  return as_value(replace(call.host.budget, subject(call), *from, *to, most));
}

Result<Value> removeprefix(Call& call) {
  COLIBRI_ASSIGN(const Text* prefix, needed_text(call[0], "prefix"));
  const Text& text = subject(call);
  if (!text.view().starts_with(prefix->view())) return call.subject;
  return Value(text.part(prefix->size(), text.size() - prefix->size()));
}
Result<Value> removesuffix(Call& call) {
  COLIBRI_ASSIGN(const Text* suffix, needed_text(call[0], "suffix"));
  const Text& text = subject(call);
  if (!text.view().ends_with(suffix->view())) return call.subject;
  return Value(text.part(0, text.size() - suffix->size()));
}

// Pads to `width` characters; `left` gives the share of the padding on the left.
Result<Value> padded(Call& call, size_t (*left)(size_t padding, size_t width)) {
  COLIBRI_ASSIGN(const int64_t width, integer_argument(call[0], 0, "width"));
  COLIBRI_ASSIGN(const Text* fill, text_of(call[1], "fillchar"));
  const Text space(" ", true);
  if (fill == nullptr) fill = &space;
  if (count_characters(fill->view()) != 1) {
    return invalid_argument("the text to fill with must be one character");
  }
  const Text& text = subject(call);
  const auto size = static_cast<int64_t>(count_characters(text.view()));
  if (width <= size) return call.subject;
  COLIBRI_TRY(call.host.budget.allocate(static_cast<uint64_t>(width - size) * fill->size()));
  const auto padding = static_cast<size_t>(width - size);
  const size_t before = left(padding, static_cast<size_t>(width));
  TextBuilder builder(call.host.budget);
  for (size_t i = 0; i < before; ++i) builder.add(*fill);
  builder.add(text);
  for (size_t i = before; i < padding; ++i) builder.add(*fill);
  return as_value(builder.finish());
}
Result<Value> ljust(Call& call) {
  return padded(call, [](size_t, size_t) { return size_t{0}; });
}
Result<Value> rjust(Call& call) {
  return padded(call, [](size_t padding, size_t) { return padding; });
}
Result<Value> center(Call& call) {
  // CPython puts the odd one on the left if the width is odd.
  return padded(call,
                [](size_t padding, size_t width) { return padding / 2 + (padding & width & 1); });
}

}  // namespace

const BuiltinTable& text_methods() {
  static const BuiltinTable table = {
      {"capitalize", "", 0, changed_by<capitalise>},
      {"center", "width fillchar", 1, center},
      {"join", "iterable", 1, join_method},
      {"ljust", "width fillchar", 1, ljust},
      {"lower", "", 0, changed_by<lower>},
      {"lstrip", "chars", 0, strip_method<Side::kLeft>},
      {"partition", "sep", 1, partition<false>},
      {"removeprefix", "prefix", 1, removeprefix},
      {"removesuffix", "suffix", 1, removesuffix},
      {"replace", "old new count", 2, replace_method},
      {"rjust", "width fillchar", 1, rjust},
      {"rpartition", "sep", 1, partition<true>},
      {"rsplit", "sep maxsplit", 0, split<true>},
      {"rstrip", "chars", 0, strip_method<Side::kRight>},
      {"split", "sep maxsplit", 0, split<false>},
      {"splitlines", "keepends", 0, splitlines},
      {"strip", "chars", 0, strip_method<Side::kBoth>},
      {"swapcase", "", 0, changed_by<swap_case>},
      {"title", "", 0, changed_by<title_by_letters>},
      {"upper", "", 0, changed_by<upper>},
  };
  return table;
}

}  // namespace colibri::chat
