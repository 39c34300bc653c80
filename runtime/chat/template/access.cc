// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/access.h"

#include <algorithm>
#include <string>

#include "runtime/base/utf8.h"
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/characters.h"
#include "runtime/chat/template/loop.h"

namespace colibri::chat {
namespace {

Value missing(const Value& value, std::string_view name) {
  return undefined("'" + type_name(value) + " object' has no attribute " + utf8::printable(name));
}

// Index of an item; -1 = outside.
int64_t index_of(int64_t index, int64_t size) {
  if (index < 0) index += size;
  return index >= 0 && index < size ? index : -1;
}

Result<std::optional<Value>> item_at(Budget& budget, const Value& value, int64_t index) {
  using Found = std::optional<Value>;
  if (const Text* text = as_text(value)) {
    COLIBRI_TRY(budget.spend_on(text->size()));
    const auto size = static_cast<int64_t>(count_characters(text->view()));
    const int64_t place = index_of(index, size);
    if (place < 0) return Found();
    const size_t at = byte_offset(text->view(), static_cast<size_t>(place));
    return Found(text->part(at, utf8::decode(text->view(), at).size));
  }
  const List* list = as_list(value);
  if (list == nullptr || list->kind > List::Kind::kRange) return Found();
  const int64_t place = index_of(index, static_cast<int64_t>(list->items.size()));
  return place < 0 ? Found() : Found(list->items[static_cast<size_t>(place)]);
}

// What stands under a key or index, not under a name.
Result<std::optional<Value>> find_item(Budget& budget, const Value& value, const Value& key) {
  using Found = std::optional<Value>;
  if (const Dict* dict = as_dict(value)) {
    COLIBRI_TRY(budget.spend(as_text(key) ? 1 : dict->entries.size()));
    const Value* found = dict->find(key);
    return found == nullptr ? Found() : Found(*found);
  }
  int64_t room = 0;
  if (const int64_t* index = as_integer(key, room)) return item_at(budget, value, *index);
  return Found();
}

std::optional<Value> find_attribute(const Value& value, std::string_view name) {
  if (const auto* ns = as<Namespace*>(value)) {
    const Value* found = (*ns)->find(name);
    if (found != nullptr) return *found;
    return std::nullopt;
  }
  if (const auto* loop = as<const LoopState*>(value)) {
    if (auto found = (*loop)->attribute(name)) return found;
  }
  if (has_method(value, name)) return Value(builtin(name));
  return std::nullopt;
}

}  // namespace

Result<Value> get_attribute(Budget& budget, const Value& value, std::string_view name) {
  if (const auto* nothing = as<Undefined>(value)) return invalid_argument(*nothing->why);
  if (auto found = find_attribute(value, name)) return std::move(*found);
  if (const Dict* dict = as_dict(value)) {
    COLIBRI_TRY(budget.spend(1));
    if (const Value* found = dict->find(name)) return *found;
  }
  return missing(value, name);
}

Result<Value> get_item(Budget& budget, const Value& value, const Value& key) {
  if (const auto* nothing = as<Undefined>(value)) return invalid_argument(*nothing->why);
  COLIBRI_ASSIGN(auto item, find_item(budget, value, key));
  if (item) return std::move(*item);
  if (const Text* name = as_text(key)) {
    if (auto found = find_attribute(value, name->view())) return std::move(*found);
    return missing(value, name->view());
  }
  return undefined("'" + type_name(value) + " object' has no such element");
}

Result<Value> get_path(Budget& budget, const Value& value, const Value& path) {
  const Text* text = as_text(path);
  if (text == nullptr) return get_item(budget, value, path);
  Value found = value;
  for (std::string_view rest = text->view();;) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view name = rest.substr(0, dot);
    const bool index =
        !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == name.npos;
    COLIBRI_ASSIGN(found,
                   get_item(budget, found,
                            index ? Value(static_cast<int64_t>(std::stoll(std::string(name))))
                                  : trusted_text(std::string(name))));
    if (dot == rest.size()) return found;
    rest.remove_prefix(dot + 1);
  }
}

Result<Value> get_slice(Budget& budget, const Value& value, const Slice& slice) {
  const Text* text = as_text(value);
  const List* list = as_list(value);
  if (text == nullptr && (list == nullptr || list->kind > List::Kind::kRange)) {
    return not_usable(value, "cannot be sliced");
  }
  const int64_t step = slice.step.value_or(1);
  if (step == 0) return invalid_argument("the step of a slice cannot be zero");
  COLIBRI_ASSIGN(const int64_t size, length(budget, value));
  // https://docs.python.org/3/library/stdtypes.html#common-sequence-operations, notes 3 to 5.
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? size : size - 1;
  const auto bound = [&](const std::optional<int64_t>& given, int64_t fallback) {
    if (!given) return fallback;
    return std::clamp(*given < 0 ? *given + size : *given, low, high);
  };
  const int64_t start = bound(slice.start, step > 0 ? low : high);
  const int64_t stop = bound(slice.stop, step > 0 ? high : low);
  COLIBRI_TRY(budget.spend_on(static_cast<size_t>(size)));
  if (text != nullptr && step == 1) {
    const size_t from = byte_offset(text->view(), static_cast<size_t>(start));
    const size_t to = byte_offset(text->view(), static_cast<size_t>(std::max(start, stop)));
    COLIBRI_TRY(budget.allocate(to - from));
    return Value(text->part(from, to - from));
  }
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(budget, value));
  std::vector<Value> chosen;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    chosen.push_back(items[static_cast<size_t>(i)]);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  if (text == nullptr) return make_list(budget, std::move(chosen), list->kind);
  TextBuilder builder(budget);
  for (const Value& character : chosen) builder.add(std::get<Text>(character));
  COLIBRI_ASSIGN(Text made, builder.finish());
  return Value(std::move(made));
}

}  // namespace colibri::chat
