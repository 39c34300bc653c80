// SPDX-License-Identifier: Apache-2.0
// What the references of an architecture document stand for in a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/architecture.h"
#include "runtime/model/evaluate.h"
#include "runtime/model/problems.h"
#include "runtime/model/source.h"

namespace colibri::model {

// Names are metadata keys. An integer beyond 2^53 or a number that is not finite is an error.
class MetadataReferences : public References {
 public:
  explicit MetadataReferences(const ModelSource& source) : source_(source) {}
  Result<Evaluated> find(std::string_view name, config::Type type) const override;
  Result<Evaluated> count(std::string_view name) const override;
  bool is_given(std::string_view name) const override;
  bool has_tensor(std::string_view name) const override { return source_.had_tensor(name); }
  std::string place_of(std::string_view name) const override { return source_.place_of(name); }

 private:
  Result<Evaluated> find_list(std::string_view name, const colibri_value& value,
                              config::Type type) const;

  const ModelSource& source_;
};

// Names are the dimensions of a vocabulary: what block options refer to.
class Dimensions : public References {
 public:
  // Evaluates every dimension on the metadata; adds each problem to `problems`.
  Dimensions(const config::Vocabulary& vocabulary, const ModelSource& source, Problems* problems);
  Result<Evaluated> find(std::string_view name, config::Type type) const override;
  Result<Evaluated> count(std::string_view name) const override;
  bool is_given(std::string_view name) const override;
  bool has_tensor(std::string_view name) const override { return source_.had_tensor(name); }
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

// Whether a metadata value is one that the condition asks for. What is absent counts as null.
bool is_met(const ModelSource& source, const config::Condition& condition);
// A metadata value for messages: "8", "the text 'yarn'", "a list".
std::string value_text(const colibri_value& value);

}  // namespace colibri::model
