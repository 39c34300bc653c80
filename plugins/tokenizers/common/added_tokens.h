// SPDX-License-Identifier: Apache-2.0
// Added tokens: found in the text before anything else happens to it, and special ones among them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plugins/tokenizers/common/json.h"
#include "plugins/tokenizers/common/pieces.h"
#include "plugins/tokenizers/common/vocabulary.h"

namespace colibri::tokenizers {

struct AddedToken {
  std::string content;
  int32_t id = -1;
  bool single_word = false;  // only where no word character touches it
  bool lstrip = false;       // takes in the white space before it
  bool rstrip = false;       // takes in the white space behind it
  bool normalized = false;   // looked for in the normalized text, in its own normalized form
  bool special = false;      // skipped when decoding without special tokens

  bool operator==(const AddedToken&) const = default;
};

// {id, content, single_word, lstrip, rstrip, normalized, special}; the id is absent in
// tokenizer_config.json.
Result<AddedToken> read_added_token(const Value& value, bool with_id);

// Strings and the numbers they stand for; the longest one at a place wins.
class Trie {
 public:
  void insert(std::string_view text, int32_t number);  // the first of equal texts stays
  struct Hit {
    size_t size;  // bytes; 0 = nothing found
    int32_t number;
  };
  Hit longest(std::string_view text, size_t at) const;
  bool empty() const { return children_.empty(); }
  bool begins_with(char byte) const { return first_[static_cast<unsigned char>(byte)]; }

 private:
  int32_t child(int32_t node, char byte) const;
  std::unordered_map<uint64_t, int32_t> children_;
  std::vector<int32_t> numbers_{-1};  // of a node; -1 = none
  bool first_[256] = {};
};

// A part of a text: an added token, or what stands between two of them.
struct Section {
  Range range;
  int32_t id;  // -1 = text
};

class AddedTokens {
 public:
  // `normalize` is applied to the content of normalized tokens.
  using Normalize = std::function<std::string(std::string_view)>;

  // Takes the tokens in. As in the reference, an id does not come from the file: it is that of the
  // content in the vocabulary or else the next free one. COLIBRI_CORRUPT_DATA if a token states
  // another one (id >= 0).
  Status add(const std::vector<AddedToken>& tokens, const Vocabulary& vocabulary,
             const Normalize& normalize);

  // Cuts the text at the tokens that are looked for before or behind normalization. A special token
  // is text if parse_special is false. Thread-safe.
  void find(std::string_view text, bool normalized, bool parse_special,
            std::vector<Section>& sections) const;

  const AddedToken* with_id(int32_t id) const;
  int32_t id(std::string_view content) const;  // -1 = none
  bool is_special(std::string_view content) const;
  int32_t max_id() const { return max_id_; }  // -1 = there are none

 private:
  void rebuild(const Normalize& normalize);

  std::vector<AddedToken> special_;  // in the order of the file
  std::vector<AddedToken> other_;
  std::unordered_map<std::string, int32_t> ids_;
  std::unordered_map<int32_t, AddedToken> by_id_;
  std::unordered_set<std::string> special_contents_;
  int32_t max_id_ = -1;
  Trie tries_[2];  // [normalized]
};

}  // namespace colibri::tokenizers
