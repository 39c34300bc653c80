// SPDX-License-Identifier: Apache-2.0
// Methods of dict, list, tuple and of the variable `loop`.
#include "runtime/chat/template/builtins.h"
#include "runtime/chat/template/compare.h"
#include "runtime/chat/template/loop.h"

namespace colibri::chat {
namespace {

Result<Value> view(Call& call, bool keys, bool values) {
  std::vector<Value> all;
  for (const auto& [key, value] : as_dict(call.subject)->entries) {
    if (keys && values) {
      COLIBRI_ASSIGN(Value pair, make_list(call.host.budget, {key, value}, List::Kind::kTuple));
      all.push_back(std::move(pair));
    } else {
      all.push_back(keys ? key : value);
    }
  }
  return make_list(call.host.budget, std::move(all), List::Kind::kDictView);
}
Result<Value> items(Call& call) {
  return view(call, true, true);
}
Result<Value> keys(Call& call) {
  return view(call, true, false);
}
Result<Value> values(Call& call) {
  return view(call, false, true);
}

Result<Value> get(Call& call) {
  const Dict& dict = *as_dict(call.subject);
  if (as_list(*call[0]) || as_dict(*call[0])) return not_usable(*call[0], "is no key of a dict");
  COLIBRI_TRY(call.host.budget.spend(as_text(*call[0]) ? 1 : dict.entries.size()));
  if (const Value* found = dict.find(*call[0])) return *found;
  return call[1] == nullptr ? Value(None()) : *call[1];
}

Result<Value> copy(Call& call) {
  return call.subject;  // nothing can change it
}

Result<Value> find_in(Call& call, bool counting) {
  int64_t found = 0;
  const std::vector<Value>& all = as_list(call.subject)->items;
  for (size_t i = 0; i < all.size(); ++i) {
    COLIBRI_ASSIGN(const bool same, equal(call.host.budget, all[i], *call[0]));
    if (same && !counting) return Value(static_cast<int64_t>(i));
    if (same) ++found;
  }
  if (!counting) return invalid_argument("the item to look for is not there");
  return Value(found);
}
Result<Value> index(Call& call) {
  return find_in(call, false);
}
Result<Value> count(Call& call) {
  return find_in(call, true);
}

const LoopState& loop_of(Call& call) {
  return *std::get<const LoopState*>(call.subject);
}

Result<Value> cycle(Call& call) {
  if (call.all.positional.empty()) return invalid_argument("cycle needs items to choose from");
  return call.all.positional[loop_of(call).index % call.all.positional.size()];
}

Result<Value> changed(Call& call) {
  const LoopState& loop = loop_of(call);
  bool same = loop.last && loop.last->size() == call.all.positional.size();
  for (size_t i = 0; same && i < loop.last->size(); ++i) {
    COLIBRI_ASSIGN(same, equal(call.host.budget, (*loop.last)[i], call.all.positional[i]));
  }
  loop.last = call.all.positional;
  return Value(!same);
}

}  // namespace

const BuiltinTable& container_methods() {
  static const BuiltinTable table = {
      {"changed", "*", 0, changed}, {"copy", "", 0, copy},          {"count", "value", 1, count},
      {"cycle", "*", 0, cycle},     {"get", "key default", 1, get}, {"index", "value", 1, index},
      {"items", "", 0, items},      {"keys", "", 0, keys},          {"values", "", 0, values},
  };
  return table;
}

}  // namespace colibri::chat
