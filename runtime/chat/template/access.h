// SPDX-License-Identifier: Apache-2.0
// Parts of values: a.b, a[b], a[b:c:d].
#pragma once

#include <optional>
#include <string_view>

#include "runtime/chat/template/value.h"

namespace colibri::chat {

// a.name: an attribute, else an item. a[key]: an item, else an attribute. What is not there is an
// undefined value; a part of an undefined value is a failure.
Result<Value> get_attribute(Budget& budget, const Value& value, std::string_view name);
Result<Value> get_item(Budget& budget, const Value& value, const Value& key);

// The attribute that filters are told of: "a.b" or an index.
Result<Value> get_path(Budget& budget, const Value& value, const Value& path);

struct Slice {
  std::optional<int64_t> start, stop, step;
};
// Of texts, lists and tuples. Indices count characters; negative ones from the end.
Result<Value> get_slice(Budget& budget, const Value& value, const Slice& slice);

}  // namespace colibri::chat
