// SPDX-License-Identifier: Apache-2.0
// The model BPE: a piece of text becomes the symbols of its characters, and the pair with the
// lowest rank is merged until no pair has a rank (Sennrich, Haddow, Birch 2016, arXiv:1508.07909,
// section 3.2).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/tokenizers/bpe/vocabulary.h"

namespace colibri::bpe {

// Working memory of one thread.
struct MergeMemory {
  struct Symbol {
    int32_t id;        // -1 = merged into the one before
    int32_t previous;  // index; -1 = none
    int32_t next;
  };
  struct Candidate {
    uint32_t rank;
    int32_t at;  // index of the left symbol
    int32_t id;  // of the merged symbol
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

class Model {
 public:
  // Reads the "model" of tokenizer.json. Refused by name: other types, dropout, byte_fallback,
  // continuing_subword_prefix, end_of_word_suffix.
  static Result<Model> read(const Value& value);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  int32_t unknown_id() const { return unknown_id_; }  // -1 = none

  // Appends the ids of one piece. A character that is not in the vocabulary becomes the unknown
  // token; without one it vanishes, as in the reference. At most 2^30 bytes. Time n log n.
  // Thread-safe.
  Status encode(std::string_view piece, MergeMemory& memory, std::vector<int32_t>& ids) const;

 private:
  struct Merge {
    uint32_t rank;
    int32_t id;
  };

  explicit Model(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Status read_merges(const Value& value);
  Status add_merge(simdjson::dom::element element, uint32_t rank);
  int32_t character_id(char32_t c, std::string_view utf8) const;
  const Merge* merge(int32_t left, int32_t right) const;
  Status symbols_of(std::string_view piece, std::vector<MergeMemory::Symbol>& symbols) const;
  void merge_all(MergeMemory& memory) const;

  Vocabulary vocabulary_;
  // Ids of the first characters, which are all of a byte-level text.
  std::array<int32_t, 512> small_characters_{};
  std::unordered_map<uint64_t, Merge> merges_;  // of a pair, left id in the upper half
  std::string unknown_;                         // empty = none
  int32_t unknown_id_ = -1;
  bool fuse_unknown_ = false;
  bool ignore_merges_ = false;
};

}  // namespace colibri::bpe
