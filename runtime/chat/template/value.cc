// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/value.h"

#include <algorithm>

#include "runtime/chat/template/characters.h"
#include "runtime/chat/template/compare.h"

namespace colibri::chat {
namespace {

int depth_of(const Value& value) {
  if (const List* list = as_list(value)) return list->depth;
  if (const Dict* dict = as_dict(value)) return dict->depth;
  return 0;
}

Status check_depth(int depth) {
  if (depth <= kMostValueDepth) return {};
  return invalid_argument("lists and dicts are nested more than " +
                          std::to_string(kMostValueDepth) + " deep");
}

}  // namespace

const Value* Dict::find(std::string_view key) const {
  const auto found = texts.find(key);
  return found == texts.end() ? nullptr : &entries[found->second].second;
}

const Value* Dict::find(const Value& key) const {
  if (const Text* text = as_text(key)) return find(text->view());
  for (const auto& [name, value] : entries) {
    if (!as_text(name) && same_scalar(name, key)) return &value;
  }
  return nullptr;
}

Value* Namespace::find(std::string_view name) {
  for (auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<Value> make_list(Budget& budget, std::vector<Value> items, List::Kind kind) {
  List list;
  for (const Value& item : items) list.depth = std::max(list.depth, 1 + depth_of(item));
  COLIBRI_TRY(check_depth(list.depth));
  COLIBRI_TRY(budget.allocate(sizeof(List) + items.size() * sizeof(Value)));
  list.items = std::move(items);
  list.kind = kind;
  return Value(std::make_shared<const List>(std::move(list)));
}

Result<Value> make_dict(Budget& budget, std::vector<std::pair<Value, Value>> entries) {
  // Keys that are no text are looked up one by one.
  COLIBRI_TRY(budget.allocate(sizeof(Dict) + entries.size() * 3 * sizeof(Value)));
  auto dict = std::make_shared<Dict>();
  dict->entries.reserve(entries.size());
  for (std::pair<Value, Value>& entry : entries) {
    Value& key = entry.first;
    Value& value = entry.second;
    dict->depth = std::max(dict->depth, 1 + depth_of(value));
    if (as_list(key) || as_dict(key) || is_undefined(key)) {
      return invalid_argument("a key of a dict must be a text or a number, not " + type_name(key));
    }
    if (!as_text(key)) COLIBRI_TRY(budget.spend(dict->entries.size()));
    if (const Value* known = dict->find(key)) {
      *const_cast<Value*>(known) = std::move(value);
      continue;
    }
    dict->entries.emplace_back(std::move(key), std::move(value));
    if (const Text* text = as_text(dict->entries.back().first)) {
      dict->texts.emplace(text->view(), dict->entries.size() - 1);
    }
  }
  COLIBRI_TRY(check_depth(dict->depth));
  return Value(std::shared_ptr<const Dict>(std::move(dict)));
}

const int64_t* as_integer(const Value& value, int64_t& room) {
  if (const auto* number = as<int64_t>(value)) return number;
  if (const auto* boolean = as<bool>(value)) {
    room = *boolean ? 1 : 0;
    return &room;
  }
  return nullptr;
}

bool is_number(const Value& value) {
  return as<bool>(value) || as<int64_t>(value) || as<double>(value);
}

double to_double(const Value& number) {
  if (const auto* real = as<double>(number)) return *real;
  int64_t room = 0;
  const int64_t* integer = as_integer(number, room);
  return integer == nullptr ? 0 : static_cast<double>(*integer);
}

std::string type_name(const Value& value) {
  if (const List* list = as_list(value)) {
    switch (list->kind) {
      case List::Kind::kList:
        return "list";
      case List::Kind::kTuple:
        return "tuple";
      case List::Kind::kRange:
        return "range";
      case List::Kind::kDictView:
        return "dict view";
      case List::Kind::kGenerator:
        return "generator";
    }
  }
  static constexpr const char* kNames[] = {"undefined", "NoneType",    "bool",  "int",
                                           "float",     "str",         "list",  "dict",
                                           "Namespace", "LoopContext", "Macro", "function"};
  return kNames[value.index()];
}

bool truth(const Value& value) {
  if (is_undefined(value) || is_none(value)) return false;
  if (const auto* real = as<double>(value)) return *real != 0;
  int64_t room = 0;
  if (const int64_t* integer = as_integer(value, room)) return *integer != 0;
  if (const Text* text = as_text(value)) return !text->empty();
  if (const List* list = as_list(value)) {
    return list->kind == List::Kind::kGenerator || !list->items.empty();
  }
  if (const Dict* dict = as_dict(value)) return !dict->entries.empty();
  return true;
}

Status not_usable(const Value& value, const std::string& python_says) {
  if (const auto* undefined = as<Undefined>(value)) return invalid_argument(*undefined->why);
  return invalid_argument("'" + type_name(value) + "' object " + python_says);
}

Result<std::vector<Value>> iterate(Budget& budget, const Value& value) {
  std::vector<Value> items;
  if (is_undefined(value)) return items;
  if (const List* list = as_list(value)) {
    if (list->kind == List::Kind::kGenerator) {
      items.assign(list->items.begin() + static_cast<std::ptrdiff_t>(list->taken),
                   list->items.end());
      list->taken = list->items.size();
    } else {
      items = list->items;
    }
  } else if (const Dict* dict = as_dict(value)) {
    for (const auto& entry : dict->entries) items.push_back(entry.first);
  } else if (const Text* text = as_text(value)) {
    // A character is a value of its own, so that these are most of the memory.
    COLIBRI_TRY(budget.allocate(text->size() * 2 * sizeof(Value)));
    for (size_t at = 0; at < text->size();) {
      const size_t n = utf8::decode(text->view(), at).size;
      items.push_back(text->part(at, n));
      at += n;
    }
  } else {
    return not_usable(value, "is not iterable");
  }
  COLIBRI_TRY(budget.allocate(items.size() * sizeof(Value)));
  COLIBRI_TRY(budget.spend(items.size()));
  return items;
}

Result<int64_t> length(Budget& budget, const Value& value) {
  if (is_undefined(value)) return int64_t{0};
  if (const Text* text = as_text(value)) {
    COLIBRI_TRY(budget.spend_on(text->size()));
    return static_cast<int64_t>(count_characters(text->view()));
  }
  if (const Dict* dict = as_dict(value)) return static_cast<int64_t>(dict->entries.size());
  const List* list = as_list(value);
  if (list == nullptr || list->kind == List::Kind::kGenerator) {
    return not_usable(value, "has no length");
  }
  return static_cast<int64_t>(list->items.size());
}

}  // namespace colibri::chat
