// SPDX-License-Identifier: Apache-2.0
// Filters on lists and dicts.
#include <algorithm>

#include "runtime/chat/template/access.h"
#include "runtime/chat/template/arithmetic.h"
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/characters.h"
#include "runtime/chat/template/compare.h"
#include "runtime/chat/template/python_text.h"
#include "runtime/chat/template/sort.h"
#include "runtime/chat/template/transform.h"

namespace colibri::chat {
namespace {

bool given(const Value* argument) {
  return argument != nullptr && !is_none(*argument);
}
bool flag(const Value* argument) {
  return argument != nullptr && truth(*argument);
}

// What items are compared by: an attribute of them, small and large letters alike.
Result<Value> key_of(Budget& budget, const Value& item, const Value* attribute, bool sensitive) {
  Value key = item;
  if (given(attribute)) {
    COLIBRI_ASSIGN(key, get_path(budget, item, *attribute));
  }
  const Text* text = as_text(key);
  if (sensitive || text == nullptr) return key;
  COLIBRI_ASSIGN(Text lowered, lower(budget, *text));
  return Value(std::move(lowered));
}

Result<std::vector<Keyed>> keyed_items(Call& call, const Value* attribute, bool sensitive) {
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(call.host.budget, call.subject));
  std::vector<Keyed> keyed;
  for (const Value& item : items) {
    COLIBRI_ASSIGN(Value key, key_of(call.host.budget, item, attribute, sensitive));
    keyed.push_back({std::move(key), item});
  }
  return keyed;
}

Result<Value> default_filter(Call& call) {
  if (is_undefined(call.subject) || (flag(call[1]) && !truth(call.subject))) {
    return call[0] == nullptr ? Value(Text()) : *call[0];
  }
  return call.subject;
}

Result<Value> first(Call& call) {
  if (is_generator(call.subject)) {
    const List& list = *as_list(call.subject);
    if (list.taken < list.items.size()) return list.items[list.taken++];
  } else {
    COLIBRI_ASSIGN(const std::vector<Value> items, iterate(call.host.budget, call.subject));
    if (!items.empty()) return items.front();
  }
  return undefined("there is no first item: the sequence is empty");
}

Result<Value> last(Call& call) {
  if (is_generator(call.subject)) return not_usable(call.subject, "is not reversible");
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(call.host.budget, call.subject));
  if (!items.empty()) return items.back();
  return undefined("there is no last item: the sequence is empty");
}

Result<Value> list_filter(Call& call) {
  COLIBRI_ASSIGN(std::vector<Value> items, iterate(call.host.budget, call.subject));
  return make_list(call.host.budget, std::move(items));
}

Result<Value> reverse(Call& call) {
  COLIBRI_ASSIGN(std::vector<Value> items, iterate(call.host.budget, call.subject));
  std::reverse(items.begin(), items.end());
  if (!as_text(call.subject)) {
    return make_list(call.host.budget, std::move(items), List::Kind::kGenerator);
  }
  TextBuilder builder(call.host.budget);
  for (const Value& character : items) builder.add(std::get<Text>(character));
  COLIBRI_ASSIGN(Text made, builder.finish());
  return Value(std::move(made));
}

Result<Value> join_filter(Call& call) {
  Budget& budget = call.host.budget;
  COLIBRI_ASSIGN(const Text separator, text_argument(budget, call[0], ""));
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(budget, call.subject));
  std::vector<Text> parts;
  for (const Value& item : items) {
    Value part = item;
    if (given(call[1])) {
      COLIBRI_ASSIGN(part, get_path(budget, item, *call[1]));
    }
    COLIBRI_ASSIGN(Text text, to_text(budget, part));
    parts.push_back(std::move(text));
  }
  COLIBRI_ASSIGN(Text made, join(budget, separator, parts));
  return Value(std::move(made));
}

Result<Value> pair_of(Budget& budget, const std::pair<Value, Value>& entry) {
  return make_list(budget, {entry.first, entry.second}, List::Kind::kTuple);
}

Result<Value> items_filter(Call& call) {
  std::vector<Value> pairs;
  if (const Dict* dict = as_dict(call.subject)) {
    for (const auto& entry : dict->entries) {
      COLIBRI_ASSIGN(Value pair, pair_of(call.host.budget, entry));
      pairs.push_back(std::move(pair));
    }
  } else if (!is_undefined(call.subject)) {
    return not_usable(call.subject, "has no items: it is no dict");
  }
  return make_list(call.host.budget, std::move(pairs), List::Kind::kGenerator);
}

Result<Value> sorted(Budget& budget, std::vector<Keyed> keyed, bool descending) {
  COLIBRI_TRY(sort_by_key(budget, keyed, descending));
  std::vector<Value> items;
  items.reserve(keyed.size());
  for (Keyed& entry : keyed) items.push_back(std::move(entry.item));
  return make_list(budget, std::move(items));
}

Result<Value> sort_filter(Call& call) {
  COLIBRI_ASSIGN(std::vector<Keyed> keyed, keyed_items(call, call[2], flag(call[1])));
  return sorted(call.host.budget, std::move(keyed), flag(call[0]));
}

Result<Value> dictsort(Call& call) {
  Budget& budget = call.host.budget;
  const Dict* dict = as_dict(call.subject);
  if (dict == nullptr) return not_usable(call.subject, "has no items: it is no dict");
  COLIBRI_ASSIGN(const Text by, text_argument(budget, call[1], "key"));
  if (by.view() != "key" && by.view() != "value") {
    return invalid_argument("dictsort sorts by 'key' or by 'value'");
  }
  std::vector<Keyed> keyed;
  for (const auto& entry : dict->entries) {
    const Value& sorted_by = by.view() == "key" ? entry.first : entry.second;
    COLIBRI_ASSIGN(Value key, key_of(budget, sorted_by, nullptr, flag(call[0])));
    COLIBRI_ASSIGN(Value pair, pair_of(budget, entry));
    keyed.push_back({std::move(key), std::move(pair)});
  }
  return sorted(budget, std::move(keyed), flag(call[2]));
}

Result<Value> unique(Call& call) {
  COLIBRI_ASSIGN(const std::vector<Keyed> keyed, keyed_items(call, call[1], flag(call[0])));
  std::vector<const Keyed*> kept;
  std::vector<Value> items;
  for (const Keyed& candidate : keyed) {
    bool known = false;
    for (size_t i = 0; i < kept.size() && !known; ++i) {
      COLIBRI_ASSIGN(known, equal(call.host.budget, kept[i]->key, candidate.key));
    }
    if (known) continue;
    kept.push_back(&candidate);
    items.push_back(candidate.item);
  }
  return make_list(call.host.budget, std::move(items), List::Kind::kGenerator);
}

Result<Value> extreme(Call& call, bool largest) {
  COLIBRI_ASSIGN(const std::vector<Keyed> keyed, keyed_items(call, call[1], flag(call[0])));
  if (keyed.empty()) return undefined("there is no item to choose: the sequence is empty");
  const Keyed* best = &keyed[0];
  for (const Keyed& candidate : keyed) {
    COLIBRI_ASSIGN(const bool better, largest ? less(call.host.budget, best->key, candidate.key)
                                              : less(call.host.budget, candidate.key, best->key));
    if (better) best = &candidate;
  }
  return best->item;
}
Result<Value> min_filter(Call& call) {
  return extreme(call, false);
}
Result<Value> max_filter(Call& call) {
  return extreme(call, true);
}

Result<Value> sum(Call& call) {
  Budget& budget = call.host.budget;
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(budget, call.subject));
  Value total = call[1] == nullptr ? Value(int64_t{0}) : *call[1];
  if (as_text(total)) return invalid_argument("sum does not add texts; use join");
  for (const Value& item : items) {
    Value addend = item;
    if (given(call[0])) {
      COLIBRI_ASSIGN(addend, get_path(budget, item, *call[0]));
    }
    COLIBRI_ASSIGN(total, arithmetic(budget, "+", total, addend));
  }
  return total;
}

}  // namespace

const BuiltinTable& list_filters() {
  static const BuiltinTable table = {
      {"d", "default_value boolean", 0, default_filter},
      {"default", "default_value boolean", 0, default_filter},
      {"dictsort", "case_sensitive by reverse", 0, dictsort},
      {"first", "", 0, first},
      {"items", "", 0, items_filter},
      {"join", "d attribute", 0, join_filter},
      {"last", "", 0, last},
      {"list", "", 0, list_filter},
      {"max", "case_sensitive attribute", 0, max_filter},
      {"min", "case_sensitive attribute", 0, min_filter},
      {"reverse", "", 0, reverse},
      {"sort", "reverse case_sensitive attribute", 0, sort_filter},
      {"sum", "attribute start", 0, sum},
      {"unique", "case_sensitive attribute", 0, unique},
  };
  return table;
}

}  // namespace colibri::chat
