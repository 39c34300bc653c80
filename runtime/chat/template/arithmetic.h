// SPDX-License-Identifier: Apache-2.0
// Python's operators. Integers have 64 bits here: a result beyond them is a failure.
#pragma once

#include <string_view>

#include "runtime/chat/template/value.h"

namespace colibri::chat {

// op: + - * / // % **
Result<Value> arithmetic(Budget& budget, std::string_view op, const Value& a, const Value& b);
Result<Value> negated(const Value& value);

}  // namespace colibri::chat
