// SPDX-License-Identifier: Apache-2.0
// Python's comparisons. Their work is charged to the budget: values may be large.
#pragma once

#include "runtime/chat/template/value.h"

namespace colibri::chat {

// Equality of None, numbers and texts; other values are the same only if they are one object.
bool same_scalar(const Value& a, const Value& b);

Result<bool> equal(Budget& budget, const Value& a, const Value& b);
// a < b. Fails for types that have no order.
Result<bool> less(Budget& budget, const Value& a, const Value& b);
// item in container.
Result<bool> contains(Budget& budget, const Value& container, const Value& item);

}  // namespace colibri::chat
