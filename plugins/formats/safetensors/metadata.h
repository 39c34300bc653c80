// SPDX-License-Identifier: Apache-2.0
// The JSON files beside the weights as metadata under dotted keys, as colibri/format.h describes
// them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "colibri/format.h"
#include "runtime/base/status.h"

namespace colibri::safetensors {

class Metadata {
 public:
  // Limits of all files together; nothing that a model needs comes near them.
  static constexpr uint64_t kMostBytes = uint64_t{16} << 20;  // of one file
  static constexpr size_t kMostValues = 1'000'000;
  static constexpr size_t kMostKeyBytes = 512;
  static constexpr int kMostDepth = 32;

  // Adds what the JSON text `name` holds, each key behind `prefix`. An object gives its members,
  // "a.b"; a list gives its scalar elements by index, and its lists and objects as "a.0", with an
  // empty element of kind ARRAY or NONE in their place. Two equal keys are an error.
  Status add(const std::string& name, std::string json, const std::string& prefix);

  size_t size() const { return entries_.size(); }
  std::string_view key(size_t i) const { return entries_[i].key; }
  // See metadata() of colibri_format_1; the value points into this object.
  colibri_status find(std::string_view key, uint64_t index, colibri_value* value) const;

 private:
  friend class MetadataReader;
  struct Value {
    uint32_t kind = COLIBRI_VALUE_NONE;
    int64_t i = 0;
    double f = 0;
    std::string s;
  };
  struct Entry {
    std::string key;
    Value value;
    std::vector<Value> elements;
  };

  std::deque<Entry> entries_;  // in the order of the files; never moved, for by_key_
  std::unordered_map<std::string_view, size_t> by_key_;
  size_t values_ = 0;
};

}  // namespace colibri::safetensors
