// SPDX-License-Identifier: Apache-2.0
// The model BPE: a piece of text becomes the symbols of its characters, and the pair with the
// lowest rank is merged until no pair has a rank (Sennrich, Haddow, Birch 2016, arXiv:1508.07909,
// section 3.2).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/merge_table.h"
#include "plugins/tokenizers/common/vocabulary.h"

namespace colibri::tokenizers {

// Working memory of one thread.
struct MergeMemory {
  struct Symbol {
    int32_t id;        // -1 = not in the vocabulary
    int32_t previous;  // index; -1 = none
    int32_t next;
    uint32_t begin;  // of its text in the piece
    uint32_t size;   // 0 = merged into the one before
  };
  struct Candidate {
    uint32_t rank;
    int32_t at;     // index of the left symbol
    int32_t id;     // of the merged symbol
    uint32_t size;  // of its text
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

struct ModelOptions {
  std::string unknown;         // stands for characters without a token; empty = there is none
  bool fuse_unknown = false;   // a run of them is one token
  bool byte_fallback = false;  // their bytes are the tokens <0x00> to <0xFF> instead, if all exist
  bool ignore_merges = false;  // a piece that is a token needs no merges
  bool bytes = false;          // symbols begin as bytes, not as characters
};

class Model {
 public:
  static constexpr uint32_t kNeverMerged = ~uint32_t{0};

  // Reads the "model" of tokenizer.json. Refused by name: other types, dropout,
  // continuing_subword_prefix, end_of_word_suffix.
  static Result<Model> read(const Value& value);
  // Which pairs merge is listed.
  static Model of_merges(Vocabulary vocabulary, MergeTable merges, ModelOptions options);
  // Any two neighbours merge whose joint text is a token with a rank; ranks has one for each id.
  // This is the order of SentencePiece (by falling score) and of tiktoken (by rising id).
  static Model of_ranks(Vocabulary vocabulary, std::vector<uint32_t> ranks, ModelOptions options);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const ModelOptions& options() const { return options_; }
  int32_t unknown_id() const { return unknown_id_; }  // -1 = none

  // Appends the ids of one piece. A character that is not in the vocabulary becomes its bytes or the
  // unknown token; without these it vanishes, as in the reference. At most 2^30 bytes. Time
  // n log n. Thread-safe.
  Status encode(std::string_view piece, MergeMemory& memory, std::vector<int32_t>& ids) const;

 private:
  using Symbols = std::vector<MergeMemory::Symbol>;

  Model(Vocabulary vocabulary, ModelOptions options);
  int32_t character_id(char32_t c, std::string_view utf8) const;
  bool append_bytes(std::string_view character, std::vector<int32_t>& ids) const;
  Status check_unknown(std::string_view character) const;
  void cut(std::string_view piece, Symbols& symbols) const;
  Status replace_unknown(std::string_view piece, Symbols& symbols) const;
  Status append_symbols(std::string_view piece, const Symbols& symbols,
                        std::vector<int32_t>& ids) const;

  Vocabulary vocabulary_;
  ModelOptions options_;
  int32_t unknown_id_ = -1;
  // Ids of the first characters, which are all of a byte-level text.
  std::array<int32_t, 512> small_characters_{};
  std::array<int32_t, 256> byte_tokens_{};
  MergeTable merges_;
  std::vector<uint32_t> ranks_;  // empty = the pairs are listed
};

}  // namespace colibri::tokenizers
