// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/model.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

using Symbol = MergeMemory::Symbol;
using Candidate = MergeMemory::Candidate;

// Lowest rank first, then leftmost: the order of std::push_heap is the other way round.
bool later(const Candidate& a, const Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

void append(Symbol symbol, std::vector<Symbol>& symbols) {
  const auto index = static_cast<int32_t>(symbols.size());
  symbol.previous = index - 1;
  symbol.next = -1;
  if (index > 0) symbols.back().next = index;
  symbols.push_back(symbol);
}

// merge_of(left, right) is the merge of two symbols or nothing.
template <typename MergeOf>
void merge_all(MergeMemory& memory, MergeOf merge_of) {
  auto& symbols = memory.symbols;
  auto& heap = memory.heap;
  heap.clear();
  const auto candidate = [&](int32_t at) -> std::optional<Candidate> {
    const Symbol& left = symbols[static_cast<size_t>(at)];
    const Symbol& right = symbols[static_cast<size_t>(left.next)];
    const std::optional<Merge> merge = merge_of(left, right);
    if (!merge) return std::nullopt;
    return Candidate{merge->rank, at, merge->id, left.size + right.size};
  };
  for (size_t i = 0; i + 1 < symbols.size(); ++i) {
    if (const auto made = candidate(static_cast<int32_t>(i))) heap.push_back(*made);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  const auto consider = [&](int32_t at) {
    if (at < 0 || symbols[static_cast<size_t>(at)].next < 0) return;
    if (const auto made = candidate(at)) {
      heap.push_back(*made);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const Candidate best = heap.back();
    heap.pop_back();
    Symbol& left = symbols[static_cast<size_t>(best.at)];
    if (left.size == 0 || left.next < 0) continue;
    Symbol& right = symbols[static_cast<size_t>(left.next)];
    // Out of date unless the pair that stands here now still becomes the same token. (The reference
    // asks no more: the rank may be that of another pair with the same outcome.)
    const std::optional<Merge> merge = merge_of(left, right);
    if (!merge || merge->id != best.id) continue;
    left.id = best.id;
    left.size += right.size;
    left.next = right.next;
    right.size = 0;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = best.at;
    consider(left.previous);
    consider(best.at);
  }
}

}  // namespace

Model::Model(Vocabulary vocabulary, ModelOptions options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
  if (!options_.unknown.empty()) unknown_id_ = vocabulary_.id(options_.unknown);
  for (char32_t c = 0; c < small_characters_.size(); ++c) {
    const char utf8[] = {static_cast<char>(c < 0x80 ? c : 0xC0 | (c >> 6)),
                         static_cast<char>(0x80 | (c & 0x3F))};
    small_characters_[c] = vocabulary_.id({utf8, c < 0x80 ? size_t{1} : size_t{2}});
  }
  for (unsigned byte = 0; byte < byte_tokens_.size(); ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    byte_tokens_[byte] = vocabulary_.id(name);
  }
}

Model Model::of_merges(Vocabulary vocabulary, MergeTable merges, ModelOptions options) {
  Model model(std::move(vocabulary), std::move(options));
  model.merges_ = std::move(merges);
  return model;
}

Model Model::of_ranks(Vocabulary vocabulary, std::vector<uint32_t> ranks, ModelOptions options) {
  Model model(std::move(vocabulary), std::move(options));
  model.ranks_ = std::move(ranks);
  return model;
}

int32_t Model::character_id(char32_t c, std::string_view utf8) const {
  return c < small_characters_.size() ? small_characters_[c] : vocabulary_.id(utf8);
}

bool Model::append_bytes(std::string_view character, std::vector<int32_t>& ids) const {
  const auto token = [&](char c) { return byte_tokens_[static_cast<unsigned char>(c)]; };
  if (!options_.byte_fallback ||
      std::any_of(character.begin(), character.end(), [&](char c) { return token(c) < 0; })) {
    return false;
  }
  for (const char c : character) ids.push_back(token(c));
  return true;
}

Status Model::check_unknown(std::string_view character) const {
  if (unknown_id_ >= 0) return {};
  return corrupt_data("tokenizer.json: model.unk_token " + utf8::printable(options_.unknown) +
                      " is not in the vocabulary, but " + utf8::printable(character) + " needs it");
}

Status Model::encode(std::string_view piece, MergeMemory& memory, std::vector<int32_t>& ids) const {
  if (piece.size() > (size_t{1} << 30)) return invalid_argument("a word of more than 1 GiB");
  if (options_.ignore_merges) {
    if (const int32_t id = vocabulary_.id(piece); id >= 0) {
      ids.push_back(id);
      return {};
    }
  }
  cut(piece, memory.symbols);
  if (!ranks_.empty()) {
    merge_all(memory, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const int32_t id = vocabulary_.id(piece.substr(left.begin, left.size + right.size));
      const uint32_t rank = id < 0 ? kNeverMerged : ranks_[static_cast<size_t>(id)];
      return rank == kNeverMerged ? std::nullopt : std::optional(Merge{rank, id});
    });
    return append_symbols(piece, memory.symbols, ids);
  }
  COLIBRI_TRY(replace_unknown(piece, memory.symbols));
  merge_all(memory, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
    const Merge* merge = merges_.find(left.id, right.id);
    return merge == nullptr ? std::nullopt : std::optional(*merge);
  });
  for (const Symbol& symbol : memory.symbols) {
    if (symbol.size > 0) ids.push_back(symbol.id);
  }
  return {};
}

void Model::cut(std::string_view piece, Symbols& symbols) const {
  symbols.clear();
  for (size_t at = 0; at < piece.size();) {
    const utf8::Character c = options_.bytes ? utf8::Character{0, 1} : utf8::decode(piece, at);
    const std::string_view text = piece.substr(at, c.size);
    const int32_t id = options_.bytes ? vocabulary_.id(text) : character_id(c.code_point, text);
    append({id, -1, -1, static_cast<uint32_t>(at), static_cast<uint32_t>(c.size)}, symbols);
    at += c.size;
  }
}

// With listed pairs the reference knows bytes and the unknown token before it merges. A run of
// unknown characters is held back until a known one or the end; bytes do not end it.
Status Model::replace_unknown(std::string_view piece, Symbols& symbols) const {
  const auto known = [](const Symbol& symbol) { return symbol.id >= 0; };
  if (std::all_of(symbols.begin(), symbols.end(), known)) return {};
  const Symbols old = symbols;
  symbols.clear();
  bool pending = false;
  const auto flush = [&](bool again) {
    if (pending) append({unknown_id_, -1, -1, 0, 1}, symbols);
    pending = again;
  };
  std::vector<int32_t> bytes;
  for (const Symbol& symbol : old) {
    if (symbol.id >= 0) {
      flush(false);
      append(symbol, symbols);
      continue;
    }
    const std::string_view character = piece.substr(symbol.begin, symbol.size);
    bytes.clear();
    if (append_bytes(character, bytes)) {
      for (const int32_t id : bytes) append({id, -1, -1, 0, 1}, symbols);
    } else if (!options_.unknown.empty()) {
      COLIBRI_TRY(check_unknown(character));
      if (!options_.fuse_unknown) flush(true);
      pending = true;
    }
  }
  flush(false);
  return {};
}

// By joint texts a character without a token may still become part of one; what then is left over
// becomes bytes.
Status Model::append_symbols(std::string_view piece, const Symbols& symbols,
                             std::vector<int32_t>& ids) const {
  for (const Symbol& symbol : symbols) {
    if (symbol.size == 0) continue;
    const std::string_view text = piece.substr(symbol.begin, symbol.size);
    if (symbol.id >= 0) {
      ids.push_back(symbol.id);
    } else if (!append_bytes(text, ids) && !options_.unknown.empty()) {
      COLIBRI_TRY(check_unknown(text));
      ids.push_back(unknown_id_);
    }
  }
  return {};
}

}  // namespace colibri::tokenizers
