// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/vocabulary.h"

#include <algorithm>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {

Result<Vocabulary> Vocabulary::of(const std::vector<Entry>& entries) {
  size_t bytes = 0;
  int32_t last = -1;
  for (const Entry& entry : entries) {
    bytes += entry.token.size();
    last = std::max(last, entry.id);
  }
  Vocabulary vocabulary;
  vocabulary.text_.reserve(bytes);
  vocabulary.tokens_.resize(static_cast<size_t>(last) + 1);
  vocabulary.ids_.reserve(entries.size());
  std::vector<bool> taken(vocabulary.tokens_.size());
  for (const auto& [text, id] : entries) {
    const size_t begin = vocabulary.text_.size();
    vocabulary.text_.insert(vocabulary.text_.end(), text.begin(), text.end());
    const std::string_view token(vocabulary.text_.data() + begin, text.size());
    if (taken[static_cast<size_t>(id)]) {
      return corrupt_data("id " + std::to_string(id) + " has two tokens, " +
                          utf8::printable(vocabulary.token(id)) + " and " + utf8::printable(token));
    }
    if (!vocabulary.ids_.emplace(token, id).second) {
      return corrupt_data("the token " + utf8::printable(token) + " stands there twice");
    }
    taken[static_cast<size_t>(id)] = true;
    vocabulary.tokens_[static_cast<size_t>(id)] = token;
  }
  return vocabulary;
}

Result<Vocabulary> Vocabulary::read(const Value& value) {
  simdjson::dom::object object;
  if (value.element().get(object) != simdjson::SUCCESS) return value.expected("an object");
  std::vector<Entry> entries;
  entries.reserve(object.size());
  for (const auto& [key, element] : object) {
    int64_t id = 0;
    if (element.get(id) != simdjson::SUCCESS || id < 0 || id >= kMaxIds) {
      return value.corrupt("the id of " + utf8::printable(key) +
                           " must be a whole number from 0 to " + std::to_string(kMaxIds - 1));
    }
    entries.push_back({key, static_cast<int32_t>(id)});
  }
  Result<Vocabulary> vocabulary = of(entries);
  return vocabulary.ok() ? std::move(vocabulary) : vocabulary.status().at(value.path());
}

int32_t Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? -1 : found->second;
}

std::string_view Vocabulary::token(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < tokens_.size() ? tokens_[static_cast<size_t>(id)]
                                                             : std::string_view();
}

}  // namespace colibri::tokenizers
