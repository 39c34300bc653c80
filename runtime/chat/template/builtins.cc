// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/builtins.h"

#include <algorithm>
#include <set>

#include "runtime/chat/template/python_text.h"

namespace colibri::chat {
namespace {

using Tables = std::vector<const BuiltinTable*>;

const Tables& filters() {
  static const Tables tables = {&text_filters(), &number_filters(), &list_filters(),
                                &choosing_filters()};
  return tables;
}
const Tables& tests() {
  static const Tables tables = {&value_tests()};
  return tables;
}
const Tables& global_functions() {
  static const Tables tables = {&functions()};
  return tables;
}
const Tables& methods_of_texts() {
  static const Tables tables = {&text_methods(), &more_text_methods()};
  return tables;
}
const Tables& methods_of_containers() {
  static const Tables tables = {&container_methods()};
  return tables;
}

// Methods that change a value: Jinja's sandbox has them, and refuses them where they are called.
constexpr std::string_view kChanging[] = {"append",     "clear",   "extend", "insert",
                                          "pop",        "popitem", "remove", "reverse",
                                          "setdefault", "sort",    "update"};
bool changes(std::string_view name) {
  return std::find(std::begin(kChanging), std::end(kChanging), name) != std::end(kChanging);
}

const BuiltinEntry* find(const Tables& tables, std::string_view name) {
  for (const BuiltinTable* table : tables) {
    for (const BuiltinEntry& entry : *table) {
      if (entry.name == name) return &entry;
    }
  }
  return nullptr;
}

std::vector<std::string_view> names(const Tables& tables) {
  std::vector<std::string_view> all;
  for (const BuiltinTable* table : tables) {
    for (const BuiltinEntry& entry : *table) all.push_back(entry.name);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// Sorts the arguments to the parameters, as a Python call does.
Status bind(const BuiltinEntry& entry, Call& call) {
  if (entry.parameters == "*") return {};
  const std::vector<std::string_view> parameters = words(entry.parameters);
  call.given.resize(parameters.size());
  if (call.all.positional.size() > parameters.size()) {
    return invalid_argument("takes at most " + std::to_string(parameters.size()) +
                            " arguments, not " + std::to_string(call.all.positional.size()));
  }
  for (size_t i = 0; i < call.all.positional.size(); ++i) call.given[i] = &call.all.positional[i];
  for (const auto& [name, value] : call.all.named) {
    const auto found = std::find(parameters.begin(), parameters.end(), name);
    if (found == parameters.end()) return invalid_argument("has no argument '" + name + "'");
    const Value*& place = call.given[static_cast<size_t>(found - parameters.begin())];
    if (place != nullptr) return invalid_argument("is given '" + name + "' twice");
    place = &value;
  }
  for (size_t i = 0; i < entry.required; ++i) {
    if (call.given[i] == nullptr) {
      return invalid_argument("needs the argument '" + std::string(parameters[i]) + "'");
    }
  }
  return {};
}

Result<Value> run(const Tables& tables, const char* what, std::string_view name, Host& host,
                  const Value& subject, const Arguments& arguments) {
  const BuiltinEntry* entry = find(tables, name);
  if (entry == nullptr) {
    return invalid_argument(std::string("unknown ") + what + " '" + std::string(name) + "'");
  }
  const Text* text = as_text(subject);
  COLIBRI_TRY(host.budget.spend_on(text == nullptr ? 0 : text->size()));
  Call call = {host, subject, arguments};
  if (Status status = bind(*entry, call); !status.ok()) {
    return Status(status.code(),
                  "the " + std::string(what) + " '" + std::string(name) + "' " + status.text());
  }
  return entry->run(call);
}

const Tables* methods_of(const Value& value) {
  if (as_text(value)) return &methods_of_texts();
  return &methods_of_containers();
}

// The types that have a container's method.
bool owns(const Value& value, std::string_view name) {
  static const std::set<std::string_view> kDict = {"items", "keys", "values", "get", "copy"},
                                          kList = {"index", "count", "copy"},
                                          kTuple = {"index", "count"}, kLoop = {"cycle", "changed"};
  if (as_dict(value)) return kDict.contains(name);
  if (as<const LoopState*>(value)) return kLoop.contains(name);
  const List* list = as_list(value);
  if (list == nullptr || list->kind > List::Kind::kRange) return false;
  return (list->kind == List::Kind::kList ? kList : kTuple).contains(name);
}

}  // namespace

bool is_filter(std::string_view name) {
  return find(filters(), name) != nullptr;
}
bool is_test(std::string_view name) {
  return find(tests(), name) != nullptr;
}
bool is_function(std::string_view name) {
  return find(global_functions(), name) != nullptr;
}
bool is_method(std::string_view name) {
  return find(methods_of_texts(), name) != nullptr ||
         find(methods_of_containers(), name) != nullptr || changes(name);
}
std::vector<std::string_view> filter_names() {
  return names(filters());
}
std::vector<std::string_view> test_names() {
  return names(tests());
}
std::vector<std::string_view> function_names() {
  return names(global_functions());
}
std::vector<std::string_view> method_names() {
  return names({&text_methods(), &more_text_methods(), &container_methods()});
}

bool has_method(const Value& value, std::string_view name) {
  if (as_text(value)) return find(methods_of_texts(), name) != nullptr;
  return owns(value, name);
}

Result<Value> call_filter(Host& host, std::string_view name, const Value& subject,
                          const Arguments& arguments) {
  return run(filters(), "filter", name, host, subject, arguments);
}

Result<bool> call_test(Host& host, std::string_view name, const Value& subject,
                       const Arguments& arguments) {
  COLIBRI_ASSIGN(const Value answer, run(tests(), "test", name, host, subject, arguments));
  return truth(answer);
}

Result<Value> call_function(Host& host, std::string_view name, const Arguments& arguments) {
  return run(global_functions(), "function", name, host, None(), arguments);
}

Result<Value> call_method(Host& host, std::string_view name, const Value& owner,
                          const Arguments& arguments) {
  if (has_method(owner, name)) {
    return run(*methods_of(owner), "method", name, host, owner, arguments);
  }
  if (changes(name) && (as_list(owner) || as_dict(owner))) {
    return invalid_argument("'" + std::string(name) +
                            "' changes a value, which templates must not do; a namespace can be "
                            "changed");
  }
  return invalid_argument("'" + type_name(owner) + " object' has no method '" + std::string(name) +
                          "'");
}

Result<int64_t> integer_argument(const Value* given, int64_t fallback, const char* what) {
  if (given == nullptr || is_none(*given)) return fallback;
  int64_t room = 0;
  if (const int64_t* value = as_integer(*given, room)) return *value;
  return not_usable(*given, std::string("is no integer for '") + what + "'");
}

Result<Text> text_argument(Budget& budget, const Value* given, const char* fallback) {
  if (given == nullptr) return Text(fallback, true);
  return to_text(budget, *given);
}

}  // namespace colibri::chat
