// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/tokenizer.h"

#include <utility>

#include "plugins/tokenizers/common/byte_level.h"
#include "plugins/tokenizers/common/piece_cache.h"

namespace colibri::tokenizers {
namespace {

// Memory that served a longer text is not kept for the next one.
constexpr size_t kKeptText = 4 << 20;

}  // namespace

struct Tokenizer::Scratch {
  SplitMemory split;
  MergeMemory merge;
  Pieces pieces;
  std::vector<Section> outer, inner;
  std::string normalized, mapped;
  PieceCache cache;
};

// The working memory of one call.
class Tokenizer::Lease {
 public:
  Lease(const Tokenizer& tokenizer, bool keep) : tokenizer_(tokenizer), keep_(keep) {
    const std::lock_guard lock(tokenizer.mutex_);
    if (tokenizer.free_.empty()) {
      scratch_ = std::make_unique<Scratch>();
      return;
    }
    scratch_ = std::move(tokenizer.free_.back());
    tokenizer.free_.pop_back();
  }
  ~Lease() {
    if (!keep_) return;
    const std::lock_guard lock(tokenizer_.mutex_);
    try {
      tokenizer_.free_.push_back(std::move(scratch_));
    } catch (const std::bad_alloc&) {  // then it is made anew next time
    }
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Scratch& operator*() { return *scratch_; }

 private:
  const Tokenizer& tokenizer_;
  bool keep_;
  std::unique_ptr<Scratch> scratch_;
};

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Status Tokenizer::encode(std::string_view text, bool parse_special, bool add_special,
                         std::vector<int32_t>& ids) const {
  Lease scratch(*this, text.size() <= kKeptText);
  const size_t from = ids.size();
  COLIBRI_TRY(encode_text(text, parse_special, *scratch, ids));
  parts_.wrapping.apply(add_special, from, ids);
  return {};
}

Status Tokenizer::encode_text(std::string_view text, bool parse_special, Scratch& scratch,
                              std::vector<int32_t>& ids) const {
  scratch.outer.clear();
  parts_.added.find(text, false, parse_special, scratch.outer);
  for (const Section& section : scratch.outer) {
    if (section.id >= 0) {
      ids.push_back(section.id);
      continue;
    }
    std::string_view normalized =
        text.substr(section.range.begin, section.range.end - section.range.begin);
    if (!parts_.normalizer.empty()) {
      scratch.normalized = parts_.normalizer(normalized);
      normalized = scratch.normalized;
    }
    scratch.inner.clear();
    parts_.added.find(normalized, true, parse_special, scratch.inner);
    for (const Section& part : scratch.inner) {
      if (part.id >= 0) {
        ids.push_back(part.id);
        continue;
      }
      COLIBRI_TRY(
          encode_section(normalized.substr(part.range.begin, part.range.end - part.range.begin),
                         section.range.begin == 0 && part.range.begin == 0, scratch, ids));
    }
  }
  return {};
}

Status Tokenizer::encode_section(std::string_view normalized, bool at_start, Scratch& scratch,
                                 std::vector<int32_t>& ids) const {
  Pieces& pieces = scratch.pieces;
  pieces.text = normalized;
  pieces.ranges = {{0, normalized.size()}};
  pieces.at_start = at_start;
  for (const auto& pre_tokenizer : parts_.pre_tokenizers.steps) {
    COLIBRI_TRY(pre_tokenizer->apply(pieces, scratch.split));
  }
  for (const Range range : pieces.ranges) {
    COLIBRI_TRY(encode_piece(pieces.at(range), scratch, ids));
  }
  return {};
}

Status Tokenizer::encode_piece(std::string_view piece, Scratch& scratch,
                               std::vector<int32_t>& ids) const {
  if (piece.empty() || piece.size() > PieceCache::kMaxPiece) {
    return encode_new_piece(piece, scratch, ids);
  }
  const PieceCache::Key key = PieceCache::key(piece);
  if (const PieceCache::Entry* known = scratch.cache.find(key)) {
    for (uint32_t i = 0; i < known->count; ++i) ids.push_back(known->ids[i]);
    return {};
  }
  const size_t from = ids.size();
  COLIBRI_TRY(encode_new_piece(piece, scratch, ids));
  scratch.cache.add(key, ids.data() + from, ids.size() - from);
  return {};
}

Status Tokenizer::encode_new_piece(std::string_view piece, Scratch& scratch,
                                   std::vector<int32_t>& ids) const {
  if (!parts_.pre_tokenizers.byte_level) return parts_.model.encode(piece, scratch.merge, ids);
  scratch.mapped.clear();
  append_byte_level(piece, scratch.mapped);
  return parts_.model.encode(scratch.mapped, scratch.merge, ids);
}

int32_t Tokenizer::id(std::string_view content) const {
  const int32_t added = parts_.added.id(content);
  return added >= 0 ? added : parts_.model.vocabulary().id(content);
}

const std::vector<int32_t>& Tokenizer::role(std::string_view name) const {
  static const std::vector<int32_t> kNone;
  const auto found = parts_.roles.find(name);
  return found == parts_.roles.end() ? kNone : found->second;
}

}  // namespace colibri::tokenizers
