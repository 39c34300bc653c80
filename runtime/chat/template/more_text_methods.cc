// SPDX-License-Identifier: Apache-2.0
// Methods of str that look for something or judge a text.
#include <algorithm>

#include "runtime/base/utf8.h"
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/characters.h"

namespace colibri::chat {
namespace {

// The characters [start, end) of the text, as bytes.
struct Range {
  size_t begin, end;
};
Result<Range> range_of(Call& call, size_t start_parameter) {
  const std::string_view text = std::get<Text>(call.subject).view();
  const auto size = static_cast<int64_t>(count_characters(text));
  COLIBRI_ASSIGN(int64_t start, integer_argument(call[start_parameter], 0, "start"));
  COLIBRI_ASSIGN(int64_t end, integer_argument(call[start_parameter + 1], size, "end"));
  if (start < 0) start = std::max<int64_t>(start + size, 0);
  if (end < 0) end = std::max<int64_t>(end + size, 0);
  end = std::min(end, size);
  if (start > end) return Range{1, 0};  // not even an empty text is there
  return Range{byte_offset(text, static_cast<size_t>(start)),
               byte_offset(text, static_cast<size_t>(end))};
}

Result<const Text*> looked_for(const Value& value) {
  if (const Text* text = as_text(value)) return text;
  return not_usable(value, "is no text to look for");
}

template <bool at_end>
Result<Value> has_affix(Call& call) {
  COLIBRI_ASSIGN(const Range range, range_of(call, 1));
  std::vector<Value> affixes = {*call[0]};
  if (const List* list = as_list(*call[0]); list != nullptr && list->kind == List::Kind::kTuple) {
    affixes = list->items;
  }
  for (const Value& value : affixes) {
    COLIBRI_ASSIGN(const Text* affix, looked_for(value));
    if (range.begin > range.end) continue;
    const std::string_view part =
        std::get<Text>(call.subject).view().substr(range.begin, range.end - range.begin);
    COLIBRI_TRY(call.host.budget.spend_on(affix->size()));
    if (at_end ? part.ends_with(affix->view()) : part.starts_with(affix->view())) {
      return Value(true);
    }
  }
  return Value(false);
}

// Index in characters; -1 = not found.
Result<int64_t> find_index(Call& call, bool from_right) {
  COLIBRI_ASSIGN(const Range range, range_of(call, 1));
  COLIBRI_ASSIGN(const Text* what, looked_for(*call[0]));
  if (range.begin > range.end) return int64_t{-1};
  const std::string_view text = std::get<Text>(call.subject).view();
  const std::string_view part = text.substr(range.begin, range.end - range.begin);
  if (from_right) COLIBRI_TRY(call.host.budget.spend_on(part.size() * what->size()));
  const size_t found = from_right ? part.rfind(what->view()) : find_text(part, what->view());
  if (found == part.npos) return int64_t{-1};
  return static_cast<int64_t>(count_characters(text.substr(0, range.begin + found)));
}

template <bool from_right, bool must>
Result<Value> find(Call& call) {
  COLIBRI_ASSIGN(const int64_t index, find_index(call, from_right));
  if (must && index < 0) return invalid_argument("the text to look for is not there");
  return Value(index);
}

Result<Value> count(Call& call) {
  COLIBRI_ASSIGN(const Range range, range_of(call, 1));
  COLIBRI_ASSIGN(const Text* what, looked_for(*call[0]));
  if (range.begin > range.end) return Value(int64_t{0});
  const std::string_view part =
      std::get<Text>(call.subject).view().substr(range.begin, range.end - range.begin);
  if (what->empty()) return Value(static_cast<int64_t>(count_characters(part)) + 1);
  int64_t n = 0;
  for (size_t at = find_text(part, what->view()); at != part.npos;
       at = find_text(part, what->view(), at + what->size())) {
    ++n;
  }
  return Value(n);
}

// Whether the text is not empty and all characters are so.
template <bool (*is)(char32_t)>
Result<Value> all_are(Call& call) {
  const std::string_view text = std::get<Text>(call.subject).view();
  return Value(!text.empty() && leading(text, is) == text.size());
}

bool is_alphanumeric(char32_t c) {
  return is_alpha(c) || is_decimal(c);
}

template <bool upper>
Result<Value> one_case(Call& call) {
  COLIBRI_ASSIGN(const bool answer,
                 call_test(call.host, upper ? "upper" : "lower", call.subject, {}));
  return Value(answer);
}

Result<Value> zfill(Call& call) {
  COLIBRI_ASSIGN(const int64_t width, integer_argument(call[0], 0, "width"));
  const Text& text = std::get<Text>(call.subject);
  const auto size = static_cast<int64_t>(count_characters(text.view()));
  if (width <= size) return call.subject;
  COLIBRI_TRY(call.host.budget.allocate(static_cast<uint64_t>(width - size)));
  const size_t sign = text.view().starts_with('-') || text.view().starts_with('+') ? 1 : 0;
  TextBuilder builder(call.host.budget);
  builder.add(text, 0, sign);
  builder.add(std::string(static_cast<size_t>(width - size), '0'), true);
  builder.add(text, sign, text.size() - sign);
  COLIBRI_ASSIGN(Text made, builder.finish());
  return Value(std::move(made));
}

}  // namespace

const BuiltinTable& more_text_methods() {
  static const BuiltinTable table = {
      {"count", "sub start end", 1, count},
      {"endswith", "suffix start end", 1, has_affix<true>},
      {"find", "sub start end", 1, find<false, false>},
      {"index", "sub start end", 1, find<false, true>},
      {"isalnum", "", 0, all_are<is_alphanumeric>},
      {"isalpha", "", 0, all_are<is_alpha>},
      {"isdecimal", "", 0, all_are<is_decimal>},
      {"isdigit", "", 0, all_are<is_decimal>},
      {"islower", "", 0, one_case<false>},
      {"isspace", "", 0, all_are<is_space>},
      {"isupper", "", 0, one_case<true>},
      {"rfind", "sub start end", 1, find<true, false>},
      {"rindex", "sub start end", 1, find<true, true>},
      {"startswith", "prefix start end", 1, has_affix<false>},
      {"zfill", "width", 1, zfill},
  };
  return table;
}

}  // namespace colibri::chat
