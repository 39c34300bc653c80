// SPDX-License-Identifier: Apache-2.0
// Python's str(), repr() and the reading of numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/chat/template/value.h"

namespace colibri::chat {

// repr(float): the shortest digits that read back as the same number.
std::string float_text(double value);

// str(value): "True", "None", "1.0", "['a', 1]", nothing for undefined values. A text stays itself,
// marks included. Fails for what prints as an address or is undefined within a list.
Result<Text> to_text(Budget& budget, const Value& value);
// The two ways to write a text within a list or dict.
void add_repr(const Text& text, TextBuilder& to);

// int(text, base) and float(text); nullopt if Python raises ValueError. An integer beyond 64 bits
// is a failure.
Result<std::optional<int64_t>> parse_integer(std::string_view text, int64_t base);
std::optional<double> parse_float(std::string_view text);

}  // namespace colibri::chat
