// SPDX-License-Identifier: Apache-2.0
// The model's tokens and their ids, both ways.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/tokenizers/common/json.h"

namespace colibri::tokenizers {

// Ids are below this: it bounds the memory that a small file can ask for.
constexpr int32_t kMaxIds = 1 << 22;

class Vocabulary {
 public:
  struct Entry {
    std::string_view token;
    int32_t id;  // in [0, kMaxIds)
  };

  // Copies the tokens. Ids may leave gaps. COLIBRI_CORRUPT_DATA if an id or a token comes twice.
  static Result<Vocabulary> of(const std::vector<Entry>& entries);
  // Reads {token: id, ...}.
  static Result<Vocabulary> read(const Value& value);

  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  int32_t id(std::string_view token) const;      // -1 = not in the vocabulary
  std::string_view token(int32_t id) const;      // empty = a gap
  size_t size() const { return ids_.size(); }    // tokens
  size_t ids() const { return tokens_.size(); }  // one past the largest id

 private:
  Vocabulary() = default;
  std::vector<char> text_;  // all tokens; the views below point into it
  std::vector<std::string_view> tokens_;
  std::unordered_map<std::string_view, int32_t> ids_;
};

}  // namespace colibri::tokenizers
