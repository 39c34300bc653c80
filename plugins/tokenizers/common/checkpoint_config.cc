// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/checkpoint_config.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

// The member of an object with any keys; nothing if it is absent or null.
std::optional<Value> member(const Value& value, simdjson::dom::object object,
                            std::string_view key) {
  simdjson::dom::element element;
  if (object[key].get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
  return Value(element, value.path() + std::string(key));
}

Result<std::optional<bool>> flag(const Value& value, simdjson::dom::object object,
                                 std::string_view key) {
  const std::optional<Value> found = member(value, object, key);
  if (!found) return std::optional<bool>();
  COLIBRI_ASSIGN(const bool truth, found->boolean());
  return std::optional(truth);
}

// A token is a string, or an object with its content.
Result<std::string> content_of(const Value& value) {
  std::string_view text;
  simdjson::dom::object object;
  if (value.element().get(text) == simdjson::SUCCESS ||
      (value.element().get(object) == simdjson::SUCCESS &&
       object["content"].get(text) == simdjson::SUCCESS)) {
    return std::string(text);
  }
  return value.expected("a token: a string, or an object with a string \"content\"");
}

Result<std::vector<AddedToken>> read_added_tokens_decoder(const Value& value) {
  simdjson::dom::object object;
  if (value.element().get(object) != simdjson::SUCCESS) return value.expected("an object");
  std::map<int32_t, AddedToken> by_id;
  for (const auto& [key, element] : object) {
    int32_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || id < 0 || id >= kMaxIds) {
      return value.expected("ids as keys, not " + utf8::printable(key));
    }
    COLIBRI_ASSIGN(AddedToken token,
                   read_added_token(Value(element, value.path() + "." + std::string(key)), false));
    token.id = id;
    if (!by_id.emplace(id, std::move(token)).second) {
      return value.expected("the id " + std::to_string(id) + " only once");
    }
  }
  std::vector<AddedToken> tokens;
  tokens.reserve(by_id.size());
  for (auto& [id, token] : by_id) tokens.push_back(std::move(token));
  return tokens;
}

Status read_special_tokens(const Value& value, simdjson::dom::object object,
                           CheckpointConfig& config) {
  for (const std::string role : {"bos", "eos", "unk", "sep", "pad", "cls", "mask"}) {
    const std::optional<Value> token = member(value, object, role + "_token");
    if (!token) continue;
    COLIBRI_ASSIGN(const std::string content, content_of(*token));
    config.roles[role] = content;
    config.specials.push_back(content);
  }
  if (const std::optional<Value> list = member(value, object, "additional_special_tokens")) {
    COLIBRI_ASSIGN(const std::vector<Value> tokens, list->array());
    for (const Value& token : tokens) {
      COLIBRI_ASSIGN(std::string content, content_of(token));
      config.specials.push_back(std::move(content));
    }
  }
  return {};
}

}  // namespace

Result<CheckpointConfig> read_checkpoint_config(const Value& value) {
  simdjson::dom::object object;
  if (value.element().get(object) != simdjson::SUCCESS) return value.expected("an object");
  CheckpointConfig config;
  COLIBRI_TRY(read_special_tokens(value, object, config));
  if (const std::optional<Value> added = member(value, object, "added_tokens_decoder")) {
    COLIBRI_ASSIGN(config.added, read_added_tokens_decoder(*added));
  }
  for (AddedToken& token : config.added) {
    const auto& specials = config.specials;
    token.special = token.special ||
                    std::find(specials.begin(), specials.end(), token.content) != specials.end();
  }
  std::string_view kind;
  if (const std::optional<Value> name = member(value, object, "tokenizer_class")) {
    COLIBRI_ASSIGN(kind, name->string());
  }
  if (kind.ends_with("Fast")) kind.remove_suffix(4);
  const bool llama = kind == "LlamaTokenizer";
  config.replaces_post_processor = llama || kind == "GPTNeoXTokenizer" || kind == "CohereTokenizer";
  for (const auto& [key, to] : {std::pair("add_bos_token", &config.add_bos_token),
                                {"add_eos_token", &config.add_eos_token},
                                {"legacy", &config.legacy}}) {
    COLIBRI_ASSIGN(*to, flag(value, object, key));
  }
  if (config.replaces_post_processor) {
    config.add_bos = config.add_bos_token.value_or(kind != "GPTNeoXTokenizer");
    config.add_eos = config.add_eos_token.value_or(false);
  }
  if (!llama) {
    COLIBRI_ASSIGN(const std::optional<bool> prefix, flag(value, object, "add_prefix_space"));
    config.prefix_space = prefix.value_or(false);
  }
  return config;
}

}  // namespace colibri::tokenizers
