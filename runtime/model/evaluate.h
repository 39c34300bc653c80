// SPDX-License-Identifier: Apache-2.0
// Evaluates the expressions of an architecture document on a model's metadata.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/architecture.h"
#include "runtime/config/expression.h"
#include "runtime/model/problems.h"
#include "runtime/model/source.h"

namespace colibri::model {

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
  virtual std::string place_of(std::string_view name) const = 0;  // for messages
};

// Names are metadata keys. An integer beyond 2^53 or a number that is not finite is an error.
class MetadataReferences : public References {
 public:
  explicit MetadataReferences(const ModelSource& source) : source_(source) {}
  Result<Evaluated> find(std::string_view name, config::Type type) const override;
  std::string place_of(std::string_view name) const override { return source_.place_of(name); }

 private:
  const ModelSource& source_;
};

// Names are the dimensions of a vocabulary: what block options refer to.
class Dimensions : public References {
 public:
  // Evaluates every dimension on the metadata; adds each problem to `problems`.
  Dimensions(const config::Vocabulary& vocabulary, const ModelSource& source, Problems* problems);
  Result<Evaluated> find(std::string_view name, config::Type type) const override;
  std::string place_of(std::string_view name) const override { return std::string(name); }
  // "heads = 6 (config.json: num_attention_heads)": a dimension, its value and where it came from.
  std::string text(std::string_view name) const;
  // " (config.json: rms_norm_eps)": where a value came from; empty if from no metadata.
  std::string origin(const Evaluated& value) const;

 private:
  struct Entry {
    const config::Dimension* dimension;
    Evaluated value;
  };
  const Entry* entry(std::string_view name) const;

  const ModelSource& source_;
  std::vector<Entry> entries_;
};

// The value of an expression; errors begin with its place in the document. Null only if `nullable`.
Result<Evaluated> evaluate(const config::Expr& expression, config::Type type, bool nullable,
                           const References& references);

// Whether a metadata value, absent and null included, is one of the allowed ones.
bool is_allowed(const ModelSource& source, const config::Condition& condition);
// The shortest decimal that reads back as this number.
std::string number_text(double number);
// A metadata value for messages: "8", "the text 'yarn'", "a list".
std::string value_text(const colibri_value& value);

}  // namespace colibri::model
