// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/gguf/vocabulary_keys.h"

#include <algorithm>
#include <cmath>

#include "plugins/common/gguf_metadata.h"
#include "plugins/tokenizers/common/vocabulary.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr char kPrefix[] = "tokenizer.ggml.";

class Keys {
 public:
  explicit Keys(const gguf::Metadata& metadata) : metadata_(metadata) {}

  // Nothing if the key is absent.
  std::optional<colibri_value> find(const std::string& name, uint64_t index = COLIBRI_WHOLE) const {
    colibri_value value = {};
    value.struct_size = sizeof(value);
    if (metadata_.find(kPrefix + name, index, &value) != COLIBRI_OK) return std::nullopt;
    return value;
  }
  static Status wrong(const std::string& name, const std::string& expected) {
    return corrupt_data(kPrefix + name + ": expected " + expected);
  }

  Status text(const std::string& name, std::string_view& to) const {
    const auto value = find(name);
    if (!value) return {};
    if (value->kind != COLIBRI_VALUE_STRING) return wrong(name, "a string");
    to = from_c(value->s);
    return {};
  }
  Status flag(const std::string& name, std::optional<bool>& to) const {
    const auto value = find(name);
    if (!value) return {};
    if (value->kind != COLIBRI_VALUE_BOOL) return wrong(name, "true or false");
    to = value->i != 0;
    return {};
  }
  Status id(const std::string& name, size_t tokens, std::optional<int32_t>& to) const {
    const auto value = find(name);
    if (!value) return {};
    if (value->kind != COLIBRI_VALUE_INT || value->i < 0 ||
        static_cast<uint64_t>(value->i) >= tokens) {
      return wrong(name, "an id below " + std::to_string(tokens));
    }
    to = static_cast<int32_t>(value->i);
    return {};
  }
  // The size of a list; nothing if the key is absent.
  Result<std::optional<uint64_t>> list(const std::string& name) const {
    const auto value = find(name);
    if (!value) return std::optional<uint64_t>();
    if (value->kind != COLIBRI_VALUE_ARRAY) return wrong(name, "a list");
    return std::optional(value->n);
  }

 private:
  const gguf::Metadata& metadata_;
};

Status read_tokens(const Keys& keys, VocabularyKeys& to) {
  COLIBRI_ASSIGN(const auto count, keys.list("tokens"));
  if (!count || *count == 0) return corrupt_data("tokenizer.ggml.tokens: missing or empty");
  if (*count > static_cast<uint64_t>(kMaxIds)) {
    return unsupported("tokenizer.ggml.tokens: more than " + std::to_string(kMaxIds) + " tokens");
  }
  to.tokens.resize(*count);
  for (uint64_t i = 0; i < *count; ++i) {
    const auto value = keys.find("tokens", i);
    if (!value || value->kind != COLIBRI_VALUE_STRING) return Keys::wrong("tokens", "strings");
    to.tokens[i].text = from_c(value->s);
    if (!utf8::valid(to.tokens[i].text)) {
      return corrupt_data("tokenizer.ggml.tokens[" + std::to_string(i) + "]: not UTF-8");
    }
  }
  return {};
}

Status read_scores(const Keys& keys, VocabularyKeys& to) {
  COLIBRI_ASSIGN(const auto count, keys.list("scores"));
  if (!count) return {};
  if (*count != to.tokens.size()) {
    return Keys::wrong("scores", std::to_string(to.tokens.size()) + " numbers, one for each token");
  }
  to.has_scores = true;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto value = keys.find("scores", i);
    const bool whole = value && value->kind == COLIBRI_VALUE_INT;
    if (!whole && (!value || value->kind != COLIBRI_VALUE_FLOAT || std::isnan(value->f))) {
      return Keys::wrong("scores", "numbers");
    }
    to.tokens[i].score = whole ? static_cast<double>(value->i) : value->f;
  }
  return {};
}

Status read_types(const Keys& keys, VocabularyKeys& to) {
  COLIBRI_ASSIGN(const auto count, keys.list("token_type"));
  if (!count) return {};
  if (*count != to.tokens.size()) {
    return Keys::wrong("token_type",
                       std::to_string(to.tokens.size()) + " types, one for each token");
  }
  for (uint64_t i = 0; i < *count; ++i) {
    const auto value = keys.find("token_type", i);
    if (!value || value->kind != COLIBRI_VALUE_INT || value->i < 0 || value->i > 6) {
      return Keys::wrong("token_type", "whole numbers from 0 to 6");
    }
    // 0, undefined, is what some converters write for normal tokens.
    to.tokens[i].type = static_cast<TokenType>(std::max<int64_t>(value->i, 1));
  }
  return {};
}

Status read_merges(const Keys& keys, VocabularyKeys& to) {
  COLIBRI_ASSIGN(const auto count, keys.list("merges"));
  for (uint64_t i = 0; count && i < *count; ++i) {
    const auto value = keys.find("merges", i);
    if (!value || value->kind != COLIBRI_VALUE_STRING) return Keys::wrong("merges", "strings");
    to.merges.push_back(from_c(value->s));
  }
  return {};
}

Status read_ids(const Keys& keys, VocabularyKeys& to) {
  const size_t tokens = to.tokens.size();
  COLIBRI_TRY(keys.id("bos_token_id", tokens, to.bos));
  COLIBRI_TRY(keys.id("unknown_token_id", tokens, to.unk));
  COLIBRI_TRY(keys.id("padding_token_id", tokens, to.pad));
  for (const char* name : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    std::optional<int32_t> id;
    COLIBRI_TRY(keys.id(name, tokens, id));
    if (id && std::find(to.ends.begin(), to.ends.end(), *id) == to.ends.end()) {
      to.ends.push_back(*id);
    }
  }
  return {};
}

}  // namespace

Result<VocabularyKeys> read_vocabulary_keys(std::string_view file) {
  COLIBRI_ASSIGN(const gguf::Metadata metadata, gguf::Metadata::read_file(file));
  const Keys keys(metadata);
  VocabularyKeys result;
  COLIBRI_TRY(keys.text("model", result.model));
  COLIBRI_TRY(keys.text("pre", result.pre));
  COLIBRI_TRY(read_tokens(keys, result));
  COLIBRI_TRY(read_scores(keys, result));
  COLIBRI_TRY(read_types(keys, result));
  COLIBRI_TRY(read_merges(keys, result));
  COLIBRI_TRY(read_ids(keys, result));
  COLIBRI_TRY(keys.flag("add_bos_token", result.add_bos));
  COLIBRI_TRY(keys.flag("add_eos_token", result.add_eos));
  COLIBRI_TRY(keys.flag("add_space_prefix", result.add_space_prefix));
  return result;
}

}  // namespace colibri::tokenizers
