// SPDX-License-Identifier: Apache-2.0
// Value: what a template computes with. Values are immutable but for namespaces; Python's types and
// their order of entries are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/chat/template/budget.h"
#include "runtime/chat/template/text.h"

namespace colibri::chat {

struct List;
struct Dict;
struct Namespace;
struct LoopState;
struct Macro;

// Jinja's default Undefined: prints as nothing, is false and empty, and fails in any other use.
struct Undefined {
  std::shared_ptr<const std::string> why;  // "'x' is undefined"; never null
};
struct None {};
// A function that every template knows, or a method that was not called.
struct Builtin {
  std::shared_ptr<const std::string> name;  // never null
};
inline Builtin builtin(std::string_view name) {
  return {std::make_shared<const std::string>(name)};
}

using Value =
    std::variant<Undefined, None, bool, int64_t, double, Text, std::shared_ptr<const List>,
                 std::shared_ptr<const Dict>, Namespace*, const LoopState*, const Macro*, Builtin>;

struct List {
  enum class Kind { kList, kTuple, kRange, kDictView, kGenerator };
  std::vector<Value> items;
  Kind kind = Kind::kList;
  int depth = 1;
  // Generators give each item once: items before this one are gone.
  mutable size_t taken = 0;
};

struct Dict {
  std::vector<std::pair<Value, Value>> entries;        // in the order of insertion
  std::unordered_map<std::string_view, size_t> texts;  // keys that are text -> index
  int depth = 1;

  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
};

struct Namespace {
  std::vector<std::pair<std::string, Value>> attributes;
  Value* find(std::string_view name);
};

inline Value undefined(std::string why) {
  return Undefined{std::make_shared<const std::string>(std::move(why))};
}
inline Value trusted_text(std::string bytes) {
  return Text(std::move(bytes), true);
}

// They fail if the budget is used up or lists and dicts are nested beyond kMostValueDepth.
Result<Value> make_list(Budget& budget, std::vector<Value> items,
                        List::Kind kind = List::Kind::kList);
// Later entries replace the values of earlier ones of the same key. Keys are scalars or texts.
Result<Value> make_dict(Budget& budget, std::vector<std::pair<Value, Value>> entries);

template <typename T>
const T* as(const Value& value) {
  return std::get_if<T>(&value);
}
inline const Text* as_text(const Value& value) {
  return std::get_if<Text>(&value);
}
inline const List* as_list(const Value& value) {
  const auto* list = std::get_if<std::shared_ptr<const List>>(&value);
  return list == nullptr ? nullptr : list->get();
}
inline const Dict* as_dict(const Value& value) {
  const auto* dict = std::get_if<std::shared_ptr<const Dict>>(&value);
  return dict == nullptr ? nullptr : dict->get();
}
inline bool is_undefined(const Value& value) {
  return std::holds_alternative<Undefined>(value);
}
inline bool is_none(const Value& value) {
  return std::holds_alternative<None>(value);
}
inline bool is_generator(const Value& value) {
  const List* list = as_list(value);
  return list != nullptr && list->kind == List::Kind::kGenerator;
}
// Integers and booleans, which count as 0 and 1.
const int64_t* as_integer(const Value& value, int64_t& room);
bool is_number(const Value& value);  // bool, int or float
double to_double(const Value& number);

// "str", "dict", ...: Python's name of the type, for messages.
std::string type_name(const Value& value);
bool truth(const Value& value);
// "'x' is undefined", "'int' object is not iterable", ...
Status not_usable(const Value& value, const std::string& python_says);

// What a `for` over the value gives: items, keys, characters. Empty for undefined values. Takes
// the items of a generator.
Result<std::vector<Value>> iterate(Budget& budget, const Value& value);
// len(): fails for what has none.
Result<int64_t> length(Budget& budget, const Value& value);

}  // namespace colibri::chat
