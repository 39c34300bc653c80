// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/added_tokens.h"

#include <algorithm>

#include "plugins/tokenizers/common/unicode.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

// Bounds the time of a search, which is text times longest token.
constexpr size_t kMaxContent = 4096;

size_t character_begin(std::string_view text, size_t end) {
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return end;
}

bool word_ends_at(std::string_view text, size_t at) {
  return at > 0 && is_word(utf8::decode(text, character_begin(text, at)).code_point);
}

bool word_begins_at(std::string_view text, size_t at) {
  return at < text.size() && is_word(utf8::decode(text, at).code_point);
}

size_t skip_space_back(std::string_view text, size_t at, size_t limit) {
  while (at > limit) {
    const size_t begin = character_begin(text, at);
    if (!is_space(utf8::decode(text, begin).code_point)) break;
    at = begin;
  }
  return at;
}

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    const utf8::Character c = utf8::decode(text, at);
    if (!is_space(c.code_point)) break;
    at += c.size;
  }
  return at;
}

}  // namespace

Result<AddedToken> read_added_token(const Value& value, bool with_id) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"id", "content", "single_word", "lstrip",
                                                    "rstrip", "normalized", "special"}));
  AddedToken token;
  COLIBRI_ASSIGN(const Value content, fields.required("content"));
  COLIBRI_ASSIGN(token.content, content.string());
  if (token.content.size() > kMaxContent) {
    return content.refused("longer than " + std::to_string(kMaxContent) + " bytes");
  }
  if (with_id) {
    COLIBRI_ASSIGN(const Value id, fields.required("id"));
    COLIBRI_ASSIGN(token.id, id.integer(kMaxIds));
  }
  COLIBRI_ASSIGN(token.single_word, fields.boolean("single_word"));
  COLIBRI_ASSIGN(token.lstrip, fields.boolean("lstrip"));
  COLIBRI_ASSIGN(token.rstrip, fields.boolean("rstrip"));
  COLIBRI_ASSIGN(token.normalized, fields.boolean("normalized"));
  COLIBRI_ASSIGN(token.special, fields.boolean("special"));
  return token;
}

int32_t Trie::child(int32_t node, char byte) const {
  const auto found =
      children_.find((static_cast<uint64_t>(node) << 8) | static_cast<unsigned char>(byte));
  return found == children_.end() ? -1 : found->second;
}

void Trie::insert(std::string_view text, int32_t number) {
  if (text.empty()) return;
  first_[static_cast<unsigned char>(text[0])] = true;
  int32_t node = 0;
  for (const char byte : text) {
    int32_t next = child(node, byte);
    if (next < 0) {
      next = static_cast<int32_t>(numbers_.size());
      children_[(static_cast<uint64_t>(node) << 8) | static_cast<unsigned char>(byte)] = next;
      numbers_.push_back(-1);
    }
    node = next;
  }
  int32_t& slot = numbers_[static_cast<size_t>(node)];
  if (slot < 0) slot = number;
}

Trie::Hit Trie::longest(std::string_view text, size_t at) const {
  Hit hit{0, -1};
  if (!first_[static_cast<unsigned char>(text[at])]) return hit;
  int32_t node = 0;
  for (size_t i = at; i < text.size(); ++i) {
    node = child(node, text[i]);
    if (node < 0) break;
    const int32_t number = numbers_[static_cast<size_t>(node)];
    if (number >= 0) hit = {i + 1 - at, number};
  }
  return hit;
}

Status AddedTokens::add(const std::vector<AddedToken>& tokens, const Vocabulary& vocabulary,
                        const Normalize& normalize) {
  for (const AddedToken& token : tokens) {
    if (token.special && !token.content.empty() && special_contents_.insert(token.content).second) {
      special_.push_back(token);
    }
  }
  for (AddedToken token : tokens) {
    if (token.content.empty()) continue;
    const int32_t stated = token.id;
    token.id = id(token.content);
    if (token.id < 0) token.id = vocabulary.id(token.content);
    if (token.id < 0) token.id = std::max(max_id_ + 1, static_cast<int32_t>(vocabulary.size()));
    if (token.id >= kMaxIds) return unsupported("more than " + std::to_string(kMaxIds) + " tokens");
    if (stated >= 0 && stated != token.id) {
      return corrupt_data("the added token " + utf8::printable(token.content) + " states the id " +
                          std::to_string(stated) + ", but its place gives it " +
                          std::to_string(token.id) +
                          "; ids of added tokens follow the vocabulary without a gap");
    }
    const auto known = by_id_.find(token.id);
    if (known != by_id_.end() && known->second == token) continue;
    ids_[token.content] = token.id;
    by_id_[token.id] = token;
    max_id_ = std::max(max_id_, token.id);
    if (!special_contents_.contains(token.content)) other_.push_back(token);
  }
  rebuild(normalize);
  return {};
}

void AddedTokens::rebuild(const Normalize& normalize) {
  for (Trie& trie : tries_) trie = Trie();
  for (const auto* list : {&special_, &other_}) {
    for (const AddedToken& token : *list) {
      tries_[token.normalized].insert(token.normalized ? normalize(token.content) : token.content,
                                      id(token.content));
    }
  }
}

void AddedTokens::find(std::string_view text, bool normalized, bool parse_special,
                       std::vector<Section>& sections) const {
  const Trie& trie = tries_[normalized];
  size_t end = 0;     // of the last token
  Range space{1, 0};  // the last run of spaces behind a token
  for (size_t at = trie.empty() ? text.size() : 0; at < text.size();) {
    if (!trie.begins_with(text[at])) {
      ++at;
      continue;
    }
    const Trie::Hit hit = trie.longest(text, at);
    if (hit.size == 0) {
      ++at;
      continue;
    }
    const AddedToken& token = by_id_.at(hit.number);
    size_t begin = at;
    size_t stop = at + hit.size;
    at = stop;  // also behind a token that does not count
    if (!parse_special && is_special(token.content)) continue;
    if (token.single_word && (word_ends_at(text, begin) || word_begins_at(text, stop))) continue;
    if (token.lstrip) begin = std::max(skip_space_back(text, begin, end), end);
    if (token.rstrip) {
      // A run of spaces is walked once, however many tokens lie in it.
      if (stop < space.begin || stop > space.end) space = {stop, skip_space(text, stop)};
      stop = space.end;
    }
    if (end < begin) sections.push_back({{end, begin}, -1});
    // A token whose every character an earlier rstrip has taken is lost, as in the reference.
    if (begin < stop) sections.push_back({{begin, stop}, hit.number});
    end = stop;
  }
  if (end < text.size()) sections.push_back({{end, text.size()}, -1});
}

const AddedToken* AddedTokens::with_id(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

int32_t AddedTokens::id(std::string_view content) const {
  const auto found = ids_.find(std::string(content));
  return found == ids_.end() ? -1 : found->second;
}

bool AddedTokens::is_special(std::string_view content) const {
  return special_contents_.contains(std::string(content));
}

}  // namespace colibri::tokenizers
