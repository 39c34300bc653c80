// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/json_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/chat/template/characters.h"
#include "runtime/chat/template/compare.h"
#include "runtime/chat/template/python_text.h"

namespace colibri::chat {
namespace {

std::string unicode_escape(char32_t unit) {
  char text[16];
  std::snprintf(text, sizeof(text), "\\u%04x", static_cast<unsigned>(unit));
  return text;
}

std::string escaped(char32_t c, bool ascii) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\f':
      return "\\f";
    case '\b':
      return "\\b";
    default:
      break;
  }
  if (c < 0x20 || (ascii && c >= 0x7F && c < 0x10000)) return unicode_escape(c);
  if (!ascii || c < 0x10000) return {};
  return unicode_escape(0xD800 + ((c - 0x10000) >> 10)) +
         unicode_escape(0xDC00 + ((c - 0x10000) & 0x3FF));
}

std::string json_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return float_text(value);
}

class Writer {
 public:
  Writer(Budget& budget, const JsonStyle& style) : budget_(budget), style_(style), to_(budget) {
    comma_ = style.separators[0].value_or(Text(style.indent ? "," : ", ", true));
    colon_ = style.separators[1].value_or(Text(": ", true));
  }

  Result<Text> finish() { return to_.finish(); }

  Status value(const Value& value) {
    COLIBRI_TRY(budget_.spend(1));
    if (const Text* text = as_text(value)) return string(*text);
    if (const auto scalar = scalar_text(value)) {
      to_.add(*scalar, true);
      return {};
    }
    if (const Dict* dict = as_dict(value)) return object(*dict);
    const List* list = as_list(value);
    if (list != nullptr && list->kind <= List::Kind::kTuple) return array(*list);
    if (const auto* undefined = as<Undefined>(value)) {
      return invalid_argument(*undefined->why + ", and tojson needs a value");
    }
    return invalid_argument("'" + type_name(value) + "' object has no JSON");
  }

 private:
  static std::optional<std::string> scalar_text(const Value& value) {
    if (is_none(value)) return "null";
    if (const auto* boolean = as<bool>(value)) return *boolean ? "true" : "false";
    if (const auto* integer = as<int64_t>(value)) return std::to_string(*integer);
    if (const auto* real = as<double>(value)) return json_float(*real);
    return std::nullopt;
  }

  Status string(const Text& text) {
    COLIBRI_TRY(budget_.spend_on(text.size()));
    const std::string_view bytes = text.view();
    to_.add("\"", true);
    size_t at = 0;
    for (const Text::Run& run : text.runs()) {
      for (size_t plain = at; at < run.end;) {
        const utf8::Character c = utf8::decode(bytes, at);
        const std::string replaced = escaped(c.code_point, style_.ascii);
        at += c.size;
        if (replaced.empty() && at < run.end) continue;
        const size_t until = replaced.empty() ? at : at - c.size;
        to_.add(bytes.substr(plain, until - plain), run.trusted);
        to_.add(replaced, run.trusted);
        plain = at;
      }
    }
    to_.add("\"", true);
    return {};
  }

  void line() {
    if (!style_.indent) return;
    to_.add("\n", true);
    for (int i = 0; i < depth_; ++i) to_.add(*style_.indent);
  }

  Status array(const List& list) {
    if (list.items.empty()) return empty("[]");
    open("[");
    for (size_t i = 0; i < list.items.size(); ++i) {
      next(i);
      COLIBRI_TRY(value(list.items[i]));
    }
    close("]");
    return {};
  }

  Status object(const Dict& dict) {
    if (dict.entries.empty()) return empty("{}");
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (style_.sort_keys) {
      for (const auto* entry : entries) {
        if (as_text(entry->first)) continue;
        return invalid_argument("tojson sorts only keys that are texts");
      }
      COLIBRI_TRY(budget_.spend_on(64 * entries.size()));
      std::stable_sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) {
        return std::get<Text>(a->first).view() < std::get<Text>(b->first).view();
      });
    }
    open("{");
    for (size_t i = 0; i < entries.size(); ++i) {
      next(i);
      const Value& key = entries[i]->first;
      if (const Text* text = as_text(key)) {
        COLIBRI_TRY(string(*text));
      } else if (const auto scalar = scalar_text(key)) {
        to_.add("\"" + *scalar + "\"", true);
      } else {
        return invalid_argument("a key of type " + type_name(key) + " has no JSON");
      }
      to_.add(colon_);
      COLIBRI_TRY(value(entries[i]->second));
    }
    close("}");
    return {};
  }

  Status empty(const char* text) {
    to_.add(text, true);
    return {};
  }
  void open(const char* bracket) {
    to_.add(bracket, true);
    ++depth_;
  }
  void next(size_t i) {
    if (i > 0) to_.add(comma_);
    line();
  }
  void close(const char* bracket) {
    --depth_;
    line();
    to_.add(bracket, true);
  }

  Budget& budget_;
  const JsonStyle& style_;
  TextBuilder to_;
  Text comma_, colon_;
  int depth_ = 0;
};

bool plain_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

class Reader {
 public:
  Reader(Budget& budget, std::string_view trusted_word)
      : budget_(budget), trusted_word_(trusted_word) {}

  Result<Value> value(const nlohmann::ordered_json& json, bool word, int depth) {
    if (depth > kMostValueDepth) {
      return invalid_argument("the JSON is nested more than " + std::to_string(kMostValueDepth) +
                              " deep");
    }
    switch (json.type()) {
      case nlohmann::json::value_t::null:
        return Value(None());
      case nlohmann::json::value_t::boolean:
        return Value(json.get<bool>());
      case nlohmann::json::value_t::number_unsigned:
        if (json.get<uint64_t>() > INT64_MAX) {
          return invalid_argument(json.dump() + " is beyond the integers of 64 bits");
        }
        return Value(static_cast<int64_t>(json.get<uint64_t>()));
      case nlohmann::json::value_t::number_integer:
        return Value(json.get<int64_t>());
      case nlohmann::json::value_t::number_float:
        return Value(json.get<double>());
      case nlohmann::json::value_t::string:
        return string(json.get_ref<const std::string&>(), word);
      case nlohmann::json::value_t::array:
        return array(json, depth);
      case nlohmann::json::value_t::object:
        return object(json, depth);
      default:
        return invalid_argument("binary data and discarded values are no JSON");
    }
  }

 private:
  Result<Value> string(const std::string& text, bool word) {
    COLIBRI_TRY(budget_.allocate(text.size()));
    if (!utf8::valid(text)) return invalid_argument("a text is not UTF-8");
    return Value(Text(text, word && plain_word(text)));
  }

  Result<Value> array(const nlohmann::ordered_json& json, int depth) {
    std::vector<Value> items;
    for (const auto& item : json) {
      COLIBRI_ASSIGN(Value made, value(item, false, depth + 1));
      items.push_back(std::move(made));
    }
    return make_list(budget_, std::move(items));
  }

  Result<Value> object(const nlohmann::ordered_json& json, int depth) {
    std::vector<std::pair<Value, Value>> entries;
    for (const auto& [key, item] : json.items()) {
      COLIBRI_ASSIGN(Value name, string(key, false));
      COLIBRI_ASSIGN(Value made, value(item, key == trusted_word_, depth + 1));
      entries.emplace_back(std::move(name), std::move(made));
    }
    return make_dict(budget_, std::move(entries));
  }

  Budget& budget_;
  const std::string_view trusted_word_;
};

}  // namespace

Result<Text> to_json(Budget& budget, const Value& value, const JsonStyle& style) {
  Writer writer(budget, style);
  COLIBRI_TRY(writer.value(value));
  return writer.finish();
}

Result<Value> from_json(Budget& budget, const nlohmann::ordered_json& json,
                        std::string_view trusted_word) {
  return Reader(budget, trusted_word).value(json, false, 1);
}

}  // namespace colibri::chat
