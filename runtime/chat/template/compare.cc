// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/compare.h"

#include <cmath>

#include "runtime/chat/template/characters.h"

namespace colibri::chat {
namespace {

// Sign of a - b, exact where an integer does not fit a double. NaN gives 2: neither.
int compare_numbers(const Value& a, const Value& b) {
  int64_t room_a = 0, room_b = 0;
  const int64_t* x = as_integer(a, room_a);
  const int64_t* y = as_integer(b, room_b);
  if (x != nullptr && y != nullptr) return *x < *y ? -1 : *x > *y;
  if (x == nullptr && y == nullptr) {
    const double u = to_double(a), v = to_double(b);
    return u < v ? -1 : u > v ? 1 : u == v ? 0 : 2;
  }
  if (x == nullptr) {
    const int opposite = compare_numbers(b, a);
    return opposite == 2 ? 2 : -opposite;
  }
  const double real = to_double(b);
  if (std::isnan(real)) return 2;
  if (real >= 0x1p63) return -1;
  if (real < -0x1p63) return 1;
  const auto whole = static_cast<int64_t>(real);  // rounds towards zero
  if (*x != whole) return *x < whole ? -1 : 1;
  const double rest = real - static_cast<double>(whole);
  return rest > 0 ? -1 : rest < 0;
}

Result<bool> equal_lists(Budget& budget, const List& a, const List& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    COLIBRI_ASSIGN(const bool same, equal(budget, a.items[i], b.items[i]));
    if (!same) return false;
  }
  return true;
}

Result<bool> equal_dicts(Budget& budget, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    COLIBRI_TRY(budget.spend(as_text(key) ? 1 : b.entries.size()));
    const Value* other = b.find(key);
    if (other == nullptr) return false;
    COLIBRI_ASSIGN(const bool same, equal(budget, value, *other));
    if (!same) return false;
  }
  return true;
}

}  // namespace

bool same_scalar(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return compare_numbers(a, b) == 0;
  if (a.index() != b.index()) return false;
  if (const Text* text = as_text(a)) return text->view() == std::get<Text>(b).view();
  if (is_none(a) || is_undefined(a)) return true;
  if (as_list(a)) return as_list(a) == as_list(b);
  if (as_dict(a)) return as_dict(a) == as_dict(b);
  if (const auto* ns = as<Namespace*>(a)) return *ns == std::get<Namespace*>(b);
  if (const auto* loop = as<const LoopState*>(a)) return *loop == std::get<const LoopState*>(b);
  if (const auto* macro = as<const Macro*>(a)) return *macro == std::get<const Macro*>(b);
  if (const auto* builtin = as<Builtin>(a)) return *builtin->name == *std::get<Builtin>(b).name;
  return false;
}

Result<bool> equal(Budget& budget, const Value& a, const Value& b) {
  COLIBRI_TRY(budget.spend(1));
  if (as_list(a) && as_list(b) && !is_generator(a)) {
    return equal_lists(budget, *as_list(a), *as_list(b));
  }
  if (as_dict(a) && as_dict(b)) return equal_dicts(budget, *as_dict(a), *as_dict(b));
  if (as_text(a) && as_text(b) && as_text(a)->size() == as_text(b)->size()) {
    COLIBRI_TRY(budget.spend_on(as_text(a)->size()));
  }
  return same_scalar(a, b);
}

Result<bool> less(Budget& budget, const Value& a, const Value& b) {
  COLIBRI_TRY(budget.spend(1));
  if (is_number(a) && is_number(b)) return compare_numbers(a, b) == -1;
  if (as_text(a) && as_text(b)) {
    COLIBRI_TRY(budget.spend_on(std::min(as_text(a)->size(), as_text(b)->size())));
    return as_text(a)->view() < as_text(b)->view();  // UTF-8 sorts as its code points do
  }
  const List* x = as_list(a);
  const List* y = as_list(b);
  if (x != nullptr && y != nullptr && x->kind == y->kind && x->kind <= List::Kind::kTuple) {
    for (size_t i = 0; i < x->items.size() && i < y->items.size(); ++i) {
      COLIBRI_ASSIGN(const bool same, equal(budget, x->items[i], y->items[i]));
      if (!same) return less(budget, x->items[i], y->items[i]);
    }
    return x->items.size() < y->items.size();
  }
  for (const Value* value : {&a, &b}) {
    if (const auto* undefined = as<Undefined>(*value)) return invalid_argument(*undefined->why);
  }
  return invalid_argument("'" + type_name(a) + "' and '" + type_name(b) + "' have no order");
}

Result<bool> contains(Budget& budget, const Value& container, const Value& item) {
  if (is_undefined(container)) return false;
  if (const Text* text = as_text(container)) {
    const Text* what = as_text(item);
    if (what == nullptr) {
      if (const auto* missing = as<Undefined>(item)) return invalid_argument(*missing->why);
      return invalid_argument("'in <string>' requires a text to look for, not " + type_name(item));
    }
    COLIBRI_TRY(budget.spend_on(text->size() + what->size()));
    return find_text(text->view(), what->view()) != std::string_view::npos;
  }
  if (const Dict* dict = as_dict(container)) {
    if (as_list(item) || as_dict(item)) return not_usable(item, "is no key of a dict");
    COLIBRI_TRY(budget.spend(as_text(item) ? 1 : dict->entries.size()));
    return dict->find(item) != nullptr;
  }
  if (!as_list(container)) return not_usable(container, "is not iterable");
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(budget, container));
  for (const Value& candidate : items) {
    COLIBRI_ASSIGN(const bool same, equal(budget, candidate, item));
    if (same) return true;
  }
  return false;
}

}  // namespace colibri::chat
