// SPDX-License-Identifier: Apache-2.0
// Filters that make text.
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/json_text.h"
#include "runtime/chat/template/python_text.h"
#include "runtime/chat/template/transform.h"

namespace colibri::chat {
namespace {

Result<Value> as_value(Result<Text> text) {
  if (!text.ok()) return text.status();
  return Value(std::move(*text));
}

// A filter that takes nothing but the text.
template <Result<Text> (*transform)(Budget&, const Text&)>
Result<Value> filter_by(Call& call) {
  COLIBRI_ASSIGN(const Text text, to_text(call.host.budget, call.subject));
  return as_value(transform(call.host.budget, text));
}

Result<Text> itself(Budget&, const Text& text) {
  return text;
}

Result<Text> escape_html(Budget& budget, const Text& text) {
  Text made = text;
  for (const auto& [from, to] :
       {std::pair("&", "&amp;"), {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}}) {
    COLIBRI_ASSIGN(made, replace(budget, made, Text(from, false), Text(to, false), -1));
  }
  return made;
}

Result<Value> trim(Call& call) {
  COLIBRI_ASSIGN(const Text text, to_text(call.host.budget, call.subject));
  if (call[0] == nullptr || is_none(*call[0])) return Value(strip(text, Side::kBoth, nullptr));
  COLIBRI_ASSIGN(const Text characters, to_text(call.host.budget, *call[0]));
  COLIBRI_TRY(call.host.budget.spend_on(text.size() * (1 + characters.size() / 16)));
  return Value(strip(text, Side::kBoth, &characters));
}

Result<Value> replace_filter(Call& call) {
  Budget& budget = call.host.budget;
  COLIBRI_ASSIGN(const Text text, to_text(budget, call.subject));
  COLIBRI_ASSIGN(const Text from, to_text(budget, *call[0]));
  COLIBRI_ASSIGN(const Text to, to_text(budget, *call[1]));
  COLIBRI_ASSIGN(const int64_t most, integer_argument(call[2], -1, "count"));
  return as_value(replace(budget, text, from, to, most));
}

Result<Value> indent(Call& call) {
  Budget& budget = call.host.budget;
  COLIBRI_ASSIGN(const Text text, to_text(budget, call.subject));
  Text margin;
  if (call[0] != nullptr && as_text(*call[0])) {
    margin = *as_text(*call[0]);
  } else {
    COLIBRI_ASSIGN(const int64_t width, integer_argument(call[0], 4, "width"));
    if (width > 0) {
      COLIBRI_TRY(budget.allocate(static_cast<uint64_t>(width)));
      margin = Text(std::string(static_cast<size_t>(width), ' '), true);
    }
  }
  const bool first = call[1] != nullptr && truth(*call[1]);
  const bool blank = call[2] != nullptr && truth(*call[2]);
  TextBuilder with_end(budget);  // so that an empty last line counts
  with_end.add(text);
  with_end.add("\n", true);
  COLIBRI_ASSIGN(const Text ended, with_end.finish());
  TextBuilder builder(budget);
  bool later = false;
  for (const Text& line : split_lines(ended, false)) {
    if (later) builder.add("\n", true);
    if (later ? blank || !line.empty() : first) builder.add(margin);
    builder.add(line);
    later = true;
  }
  return as_value(builder.finish());
}

Result<Value> tojson(Call& call) {
  JsonStyle style;
  style.ascii = call[0] != nullptr && truth(*call[0]);
  style.sort_keys = call[3] != nullptr && truth(*call[3]);
  if (call[1] != nullptr && !is_none(*call[1])) {
    if (const Text* text = as_text(*call[1])) {
      style.indent = *text;
    } else {
      COLIBRI_ASSIGN(const int64_t width, integer_argument(call[1], 0, "indent"));
      if (width > 1024) return invalid_argument("tojson indents by at most 1024 spaces");
      style.indent = Text(std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' '), true);
    }
  }
  if (call[2] != nullptr && !is_none(*call[2])) {
    const List* pair = as_list(*call[2]);
    if (pair == nullptr || pair->items.size() != 2 || !as_text(pair->items[0]) ||
        !as_text(pair->items[1])) {
      return invalid_argument("tojson takes a pair of texts for 'separators'");
    }
    style.separators[0] = *as_text(pair->items[0]);
    style.separators[1] = *as_text(pair->items[1]);
  }
  return as_value(to_json(call.host.budget, call.subject, style));
}

}  // namespace

const BuiltinTable& text_filters() {
  static const BuiltinTable table = {
      {"capitalize", "", 0, filter_by<capitalise>},
      {"e", "", 0, filter_by<escape_html>},
      {"escape", "", 0, filter_by<escape_html>},
      {"indent", "width first blank", 0, indent},
      {"lower", "", 0, filter_by<lower>},
      {"replace", "old new count", 2, replace_filter},
      {"safe", "", 0, filter_by<itself>},  // nothing is escaped by itself
      {"string", "", 0, filter_by<itself>},
      {"title", "", 0, filter_by<title_by_spaces>},
      {"tojson", "ensure_ascii indent separators sort_keys", 0, tojson},
      {"trim", "chars", 0, trim},
      {"upper", "", 0, filter_by<upper>},
  };
  return table;
}

}  // namespace colibri::chat
