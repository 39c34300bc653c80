// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/bpe/model.h"

#include <algorithm>

#include "runtime/base/utf8.h"

namespace colibri::bpe {
namespace {

uint64_t pair_key(int32_t left, int32_t right) {
  return (uint64_t{static_cast<uint32_t>(left)} << 32) | static_cast<uint32_t>(right);
}

// Lowest rank first, then leftmost: the order of std::push_heap is the other way round.
bool later(const MergeMemory::Candidate& a, const MergeMemory::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

// Old files have no "type"; only BPE has merges.
Status check_type(const Value& value) {
  simdjson::dom::object object;
  if (value.element().get(object) != simdjson::SUCCESS) return value.expected("an object");
  simdjson::dom::element element;
  if (object["type"].get(element) == simdjson::NO_SUCH_FIELD) {
    return object["merges"].get(element) == simdjson::SUCCESS
               ? Status()
               : value.expected("a model of type BPE with merges");
  }
  COLIBRI_ASSIGN(const std::string_view type, value.type());
  if (type == "BPE") return {};
  return value.refused("type " + utf8::printable(type) + " is not supported; supported: BPE");
}

Status refuse_what_changes_the_result(const Fields& fields) {
  for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const std::optional<Value> affix = fields.find(key);
    if (!affix) continue;
    COLIBRI_ASSIGN(const std::string_view text, affix->string());
    if (!text.empty()) return affix->refused("only an empty one is supported");
  }
  COLIBRI_ASSIGN(const bool byte_fallback, fields.boolean_or("byte_fallback", false));
  if (byte_fallback) {
    return unsupported(fields.find("byte_fallback")->path() +
                       ": true is not supported; byte-level BPE has no use for it");
  }
  if (const std::optional<Value> dropout = fields.find("dropout")) {
    return dropout->refused("only null is supported; dropout is for training");
  }
  return {};
}

}  // namespace

Result<Model> Model::read(const Value& value) {
  COLIBRI_TRY(check_type(value));
  COLIBRI_ASSIGN(const Fields fields,
                 value.fields({"type", "dropout", "unk_token", "continuing_subword_prefix",
                               "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges",
                               "vocab", "merges"}));
  COLIBRI_TRY(refuse_what_changes_the_result(fields));
  COLIBRI_ASSIGN(const Value vocab, fields.required("vocab"));
  COLIBRI_ASSIGN(Vocabulary vocabulary, Vocabulary::read(vocab));
  Model model(std::move(vocabulary));
  COLIBRI_ASSIGN(model.fuse_unknown_, fields.boolean_or("fuse_unk", false));
  COLIBRI_ASSIGN(model.ignore_merges_, fields.boolean_or("ignore_merges", false));
  if (const std::optional<Value> unknown = fields.find("unk_token")) {
    COLIBRI_ASSIGN(model.unknown_, unknown->string());
    model.unknown_id_ = model.vocabulary_.id(model.unknown_);
  }
  for (char32_t c = 0; c < model.small_characters_.size(); ++c) {
    const char utf8[] = {static_cast<char>(c < 0x80 ? c : 0xC0 | (c >> 6)),
                         static_cast<char>(0x80 | (c & 0x3F))};
    model.small_characters_[c] = model.vocabulary_.id({utf8, c < 0x80 ? size_t{1} : size_t{2}});
  }
  COLIBRI_ASSIGN(const Value merges, fields.required("merges"));
  COLIBRI_TRY(model.read_merges(merges));
  return model;
}

// Both spellings: "left right" and ["left", "right"].
Status Model::read_merges(const Value& value) {
  simdjson::dom::array array;
  if (value.element().get(array) != simdjson::SUCCESS) return value.expected("an array");
  merges_.reserve(array.size());
  size_t index = 0;
  uint32_t rank = 0;
  for (const simdjson::dom::element element : array) {
    std::string_view line;
    const bool comment = element.get(line) == simdjson::SUCCESS && line.starts_with("#version");
    if (!comment) {
      if (const Status status = add_merge(element, rank++); !status.ok()) {
        return status.at(value.path() + "[" + std::to_string(index) + "]");
      }
    }
    ++index;
  }
  return {};
}

Status Model::add_merge(simdjson::dom::element element, uint32_t rank) {
  std::string_view left;
  std::string_view right;
  std::string_view line;
  simdjson::dom::array pair;
  if (element.get(line) == simdjson::SUCCESS) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      return corrupt_data("expected two tokens and one space between them");
    }
    left = line.substr(0, space);
    right = line.substr(space + 1);
  } else if (element.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
             pair.at(0).get(left) != simdjson::SUCCESS ||
             pair.at(1).get(right) != simdjson::SUCCESS) {
    return corrupt_data("expected \"left right\" or [\"left\", \"right\"]");
  }
  std::string merged(left);
  merged += right;
  const int32_t left_id = vocabulary_.id(left);
  const int32_t right_id = vocabulary_.id(right);
  const int32_t id = vocabulary_.id(merged);
  for (const auto& [token, token_id] : {std::pair(left, left_id), std::pair(right, right_id),
                                        std::pair(std::string_view(merged), id)}) {
    if (token_id < 0) {
      return corrupt_data("the token " + utf8::printable(token) + " is not in the vocabulary");
    }
  }
  merges_[pair_key(left_id, right_id)] = {rank, id};
  return {};
}

int32_t Model::character_id(char32_t c, std::string_view utf8) const {
  return c < small_characters_.size() ? small_characters_[c] : vocabulary_.id(utf8);
}

const Model::Merge* Model::merge(int32_t left, int32_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

Status Model::encode(std::string_view piece, MergeMemory& memory, std::vector<int32_t>& ids) const {
  if (piece.size() > (size_t{1} << 30)) return invalid_argument("a word of more than 1 GiB");
  if (ignore_merges_) {
    if (const int32_t id = vocabulary_.id(piece); id >= 0) {
      ids.push_back(id);
      return {};
    }
  }
  COLIBRI_TRY(symbols_of(piece, memory.symbols));
  merge_all(memory);
  for (const MergeMemory::Symbol& symbol : memory.symbols) {
    if (symbol.id >= 0) ids.push_back(symbol.id);
  }
  return {};
}

Status Model::symbols_of(std::string_view piece, std::vector<MergeMemory::Symbol>& symbols) const {
  symbols.clear();
  bool unknown_before = false;
  for (size_t at = 0; at < piece.size();) {
    const utf8::Character c = utf8::decode(piece, at);
    const std::string_view text = piece.substr(at, c.size);
    at += c.size;
    int32_t id = character_id(c.code_point, text);
    const bool unknown = id < 0;
    if (unknown && unknown_.empty()) continue;
    if (unknown) {
      if (unknown_id_ < 0) {
        return corrupt_data("tokenizer.json: model.unk_token " + utf8::printable(unknown_) +
                            " is not in the vocabulary, but " + utf8::printable(text) +
                            " needs it");
      }
      if (fuse_unknown_ && unknown_before) continue;
      id = unknown_id_;
    }
    unknown_before = unknown;
    const auto index = static_cast<int32_t>(symbols.size());
    symbols.push_back({id, index - 1, index + 1});
  }
  if (!symbols.empty()) symbols.back().next = -1;
  return {};
}

void Model::merge_all(MergeMemory& memory) const {
  auto& symbols = memory.symbols;
  auto& heap = memory.heap;
  heap.clear();
  for (size_t i = 0; i + 1 < symbols.size(); ++i) {
    if (const Merge* m = merge(symbols[i].id, symbols[i + 1].id)) {
      heap.push_back({m->rank, static_cast<int32_t>(i), m->id});
    }
  }
  std::make_heap(heap.begin(), heap.end(), later);
  const auto consider = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    const Merge* m =
        merge(symbols[static_cast<size_t>(left)].id, symbols[static_cast<size_t>(right)].id);
    if (m == nullptr) return;
    heap.push_back({m->rank, left, m->id});
    std::push_heap(heap.begin(), heap.end(), later);
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const MergeMemory::Candidate best = heap.back();
    heap.pop_back();
    MergeMemory::Symbol& left = symbols[static_cast<size_t>(best.at)];
    if (left.id < 0 || left.next < 0) continue;
    MergeMemory::Symbol& right = symbols[static_cast<size_t>(left.next)];
    // Out of date unless the pair that stands here now still becomes the same token. (The reference
    // asks no more: the rank may be that of another pair with the same outcome.)
    const Merge* m = merge(left.id, right.id);
    if (m == nullptr || m->id != best.id) continue;
    left.id = best.id;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = best.at;
    consider(left.previous, best.at);
    consider(best.at, left.next);
  }
}

}  // namespace colibri::bpe
