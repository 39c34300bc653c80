// SPDX-License-Identifier: Apache-2.0
// What each id stands for, and how a sequence of ids becomes text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/decode_stream.h"

namespace colibri::tokenizers {

// How tokens of text (SentencePiece and its like) come together.
struct TextRules {
  uint8_t strip = 0;  // so many characters `stripped` at the very beginning are left out
  char stripped = ' ';
  // The first token of a sequence is written by another text (DecodeTable::set_first).
  bool first_differs = false;
};

class DecodeTable {
 public:
  // Bytes of any token may be parts of characters, as in byte-level BPE: what cannot become one is
  // U+FFFD, once for each maximal part.
  DecodeTable() = default;
  // Tokens are text, and bytes only where set_byte says so: each byte that does not become a
  // character is U+FFFD, as SentencePiece does it.
  explicit DecodeTable(TextRules rules) : text_(true), rules_(rules) {}

  void resize(size_t ids);  // before set; further ids have no bytes
  void set(int32_t id, std::string bytes) { at(id).bytes = std::move(bytes); }
  void set_byte(int32_t id, char byte);
  void set_first(int32_t id, std::string bytes);
  void set_special(int32_t id) { at(id).special = true; }

  int32_t ids() const { return static_cast<int32_t>(entries_.size()); }
  std::string_view bytes(int32_t id) const;  // empty for an unknown id
  bool is_special(int32_t id) const;

  // Appends the text that a token completes. Thread-safe, no allocation.
  void decode(DecodeState& state, int32_t id, bool skip_special, TextOut& out) const;
  void end(DecodeState& state, TextOut& out) const;

 private:
  struct Entry {
    std::string bytes;
    bool byte = false;
    bool special = false;
  };
  Entry& at(int32_t id) { return entries_[static_cast<size_t>(id)]; }
  bool known(int32_t id) const { return id >= 0 && id < ids(); }

  bool text_ = false;
  TextRules rules_;
  std::vector<Entry> entries_;
  std::vector<std::string> first_;  // empty unless the first token differs
};

}  // namespace colibri::tokenizers
