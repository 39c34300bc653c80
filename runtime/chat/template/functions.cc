// SPDX-License-Identifier: Apache-2.0
// The functions that transformers and Jinja give to chat templates.
#include "runtime/base/utf8.h"
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/date.h"
#include "runtime/chat/template/python_text.h"

namespace colibri::chat {
namespace {

constexpr int64_t kMostRange = 100'000;  // as Jinja's sandbox has it

Result<Value> range(Call& call) {
  int64_t bounds[3] = {0, 0, 1};  // start, stop, step
  const auto& given = call.all.positional;
  if (given.empty() || given.size() > 3 || !call.all.named.empty()) {
    return invalid_argument("range takes one to three integers");
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (is_none(given[i])) return not_usable(given[i], "is no integer for 'range'");
    COLIBRI_ASSIGN(bounds[given.size() == 1 ? 1 : i], integer_argument(&given[i], 0, "range"));
  }
  const auto [start, stop, step] = bounds;
  if (step == 0) return invalid_argument("the step of a range cannot be zero");
  std::vector<Value> numbers;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (static_cast<int64_t>(numbers.size()) == kMostRange) {
      return invalid_argument("a range has at most " + std::to_string(kMostRange) + " numbers");
    }
    numbers.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  COLIBRI_TRY(call.host.budget.spend(numbers.size()));
  return make_list(call.host.budget, std::move(numbers), List::Kind::kRange);
}

// The entries of dict(...) and namespace(...): of a dict or of pairs, then of the named arguments.
Result<std::vector<std::pair<Value, Value>>> entries_of(Call& call) {
  std::vector<std::pair<Value, Value>> entries;
  if (call.all.positional.size() > 1) return invalid_argument("takes at most one dict");
  if (!call.all.positional.empty()) {
    const Value& source = call.all.positional[0];
    if (const Dict* dict = as_dict(source)) {
      entries = dict->entries;
    } else {
      COLIBRI_ASSIGN(const std::vector<Value> pairs, iterate(call.host.budget, source));
      for (const Value& pair : pairs) {
        const List* list = as_list(pair);
        if (list == nullptr || list->items.size() != 2) {
          return not_usable(pair, "is no pair of key and value");
        }
        entries.emplace_back(list->items[0], list->items[1]);
      }
    }
  }
  for (const auto& [name, value] : call.all.named) entries.emplace_back(trusted_text(name), value);
  return entries;
}

Result<Value> dict(Call& call) {
  COLIBRI_ASSIGN(auto entries, entries_of(call));
  return make_dict(call.host.budget, std::move(entries));
}

Result<Value> make_namespace(Call& call) {
  COLIBRI_ASSIGN(auto entries, entries_of(call));
  COLIBRI_TRY(call.host.budget.allocate(sizeof(Namespace) + entries.size() * sizeof(entries[0])));
  Namespace& made = call.host.namespaces.emplace_back();
  for (auto& [key, value] : entries) {
    const Text* name = as_text(key);
    if (name == nullptr) return not_usable(key, "is no name of an attribute");
    if (Value* known = made.find(name->view())) {
      *known = std::move(value);
    } else {
      made.attributes.emplace_back(name->view(), std::move(value));
    }
  }
  return Value(&made);
}

Result<Value> raise_exception(Call& call) {
  COLIBRI_ASSIGN(const Text message, to_text(call.host.budget, *call[0]));
  return invalid_argument("the template refuses this conversation: " +
                          utf8::printable(message.view()));
}

Result<Value> strftime_now(Call& call) {
  const Text* format = as_text(*call[0]);
  if (format == nullptr) return not_usable(*call[0], "is no format of a date");
  COLIBRI_ASSIGN(std::string date, format_date(call.host.now, format->view()));
  COLIBRI_TRY(call.host.budget.allocate(date.size()));
  return trusted_text(std::move(date));
}

}  // namespace

const BuiltinTable& functions() {
  static const BuiltinTable table = {
      {"dict", "*", 0, dict},
      {"namespace", "*", 0, make_namespace},
      {"raise_exception", "message", 1, raise_exception},
      {"range", "*", 0, range},
      {"strftime_now", "format", 1, strftime_now},
  };
  return table;
}

}  // namespace colibri::chat
