// SPDX-License-Identifier: Apache-2.0
// Filters that apply a test or another filter to each item.
#include "runtime/chat/template/access.h"
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/python_text.h"

namespace colibri::chat {
namespace {

// The arguments behind the first `n`, which belong to the test or filter.
Arguments rest_of(const Arguments& all, size_t n) {
  Arguments rest = all;
  rest.positional.erase(rest.positional.begin(),
                        rest.positional.begin() + static_cast<std::ptrdiff_t>(n));
  return rest;
}

Result<std::string> name_at(Call& call, size_t i) {
  const Text* name = as_text(call.all.positional[i]);
  if (name == nullptr)
    return not_usable(call.all.positional[i], "is not the name of a test or filter");
  return std::string(name->view());
}

// Keeps the items whose (attribute's) test says `wanted`. Without a test: whether they are true.
Result<Value> choose(Call& call, bool by_attribute, bool wanted) {
  const size_t first = by_attribute ? 1 : 0;
  if (call.all.positional.size() < first) {
    return invalid_argument("the filter needs the name of an attribute");
  }
  const bool tested = call.all.positional.size() > first;
  std::string test;
  if (tested) {
    COLIBRI_ASSIGN(test, name_at(call, first));
  }
  const Arguments arguments = rest_of(call.all, first + (tested ? 1 : 0));
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(call.host.budget, call.subject));
  std::vector<Value> kept;
  for (const Value& item : items) {
    Value looked_at = item;
    if (by_attribute) {
      COLIBRI_ASSIGN(looked_at, get_path(call.host.budget, item, call.all.positional[0]));
    }
    bool answer = truth(looked_at);
    if (tested) {
      COLIBRI_ASSIGN(answer, call_test(call.host, test, looked_at, arguments));
    }
    if (answer == wanted) kept.push_back(item);
  }
  return make_list(call.host.budget, std::move(kept), List::Kind::kGenerator);
}

template <bool by_attribute, bool wanted>
Result<Value> choosing(Call& call) {
  return choose(call, by_attribute, wanted);
}

Result<Value> map_attribute(Call& call) {
  const Value* attribute = nullptr;
  const Value* fallback = nullptr;
  for (const auto& [name, value] : call.all.named) {
    if (name == "attribute") {
      attribute = &value;
    } else if (name == "default") {
      fallback = &value;
    } else {
      return invalid_argument("the filter 'map' has no argument '" + name + "'");
    }
  }
  if (attribute == nullptr) return invalid_argument("map needs a filter or an attribute");
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(call.host.budget, call.subject));
  std::vector<Value> mapped;
  for (const Value& item : items) {
    COLIBRI_ASSIGN(Value value, get_path(call.host.budget, item, *attribute));
    if (fallback != nullptr && is_undefined(value)) value = *fallback;
    mapped.push_back(std::move(value));
  }
  return make_list(call.host.budget, std::move(mapped), List::Kind::kGenerator);
}

Result<Value> map_filter(Call& call) {
  if (call.all.positional.empty()) return map_attribute(call);
  COLIBRI_ASSIGN(const std::string name, name_at(call, 0));
  const Arguments arguments = rest_of(call.all, 1);
  COLIBRI_ASSIGN(const std::vector<Value> items, iterate(call.host.budget, call.subject));
  std::vector<Value> mapped;
  for (const Value& item : items) {
    COLIBRI_ASSIGN(Value value, call_filter(call.host, name, item, arguments));
    mapped.push_back(std::move(value));
  }
  return make_list(call.host.budget, std::move(mapped), List::Kind::kGenerator);
}

}  // namespace

const BuiltinTable& choosing_filters() {
  static const BuiltinTable table = {
      {"map", "*", 0, map_filter},
      {"reject", "*", 0, choosing<false, false>},
      {"rejectattr", "*", 0, choosing<true, false>},
      {"select", "*", 0, choosing<false, true>},
      {"selectattr", "*", 0, choosing<true, true>},
  };
  return table;
}

}  // namespace colibri::chat
