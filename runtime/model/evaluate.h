// SPDX-License-Identifier: Apache-2.0
// Evaluates the expressions of an architecture document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/expression.h"

namespace colibri::model {

// The largest integer up to which doubles, and so most writers of metadata, are exact.
constexpr int64_t kLargestInteger = int64_t{1} << 53;

// A value and the metadata keys it came from, in the order of the expression.
struct Evaluated {
  config::Literal value;  // of the wanted type, or null
  std::vector<std::string_view> keys;

  bool is_null() const { return std::holds_alternative<std::monostate>(value); }
};

// What the references of an expression stand for.
class References {
 public:
  virtual ~References() = default;
  // The value of a name; null if there is none. An error if it is not of the type.
  virtual Result<Evaluated> find(std::string_view name, config::Type type) const = 0;
  // The elements of a list; an error if it is something else.
  virtual Result<Evaluated> count(std::string_view name) const = 0;
  virtual bool is_given(std::string_view name) const = 0;  // and not null
  virtual bool has_tensor(std::string_view name) const = 0;
  virtual std::string place_of(std::string_view name) const = 0;  // for messages
};

// The value of an expression; errors begin with its place in the document. Null only if `nullable`.
Result<Evaluated> evaluate(const config::Expr& expression, config::Type type, bool nullable,
                           const References& references);

// The shortest decimal that reads back as this number.
std::string number_text(double number);
// A value as another type that it is accepted for: an integer as a number, anything as a text.
Evaluated as_type(Evaluated value, config::Type type);

}  // namespace colibri::model
