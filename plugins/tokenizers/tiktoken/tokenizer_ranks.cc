// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/tiktoken/tokenizer_ranks.h"

#include <algorithm>
#include <utility>

#include "plugins/tokenizers/common/checkpoint_config.h"
#include "plugins/tokenizers/common/known_patterns.h"
#include "plugins/tokenizers/tiktoken/rank_file.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr char kConfigFile[] = "tokenizer_config.json";

// What the class adds behind the ranks where tokenizer_config.json says nothing of an id.
struct Class {
  const char* name;
  const char* pattern;                    // name of the pre-tokenizer
  bool nfc;                               // normalizes
  std::vector<const char*> first;         // special tokens behind the ranks
  const char* reserved;                   // then these, with a number
  int32_t reserved_until;                 // special tokens in all
  bool reserved_by_id;                    // the number is the id, else it counts from 0
  std::vector<const char*> put_in_front;  // around a text
};

const std::vector<Class>& classes() {
  static const std::vector<Class> kClasses = {
      {"TikTokenTokenizer", "kimi-k2", false, {}, "<|reserved_token_", 256, true, {}},
      {"QWenTokenizer",
       "qwen2",
       true,
       {"<|endoftext|>", "<|im_start|>", "<|im_end|>"},
       "<|extra_",
       208,
       false,
       {}},
      {"ChatGLM4Tokenizer", "glm4", false, {}, nullptr, 0, false, {"[gMASK]", "<sop>"}},
  };
  return kClasses;
}

Result<const Class*> class_of(const Value& config) {
  simdjson::dom::object object;
  std::string_view name;
  if (config.element().get(object) != simdjson::SUCCESS) return config.expected("an object");
  if (object["tokenizer_class"].get(name) != simdjson::SUCCESS) {
    return unsupported(std::string(kConfigFile) +
                       ": tokenizer_class: missing; token ranks alone do not tell the pattern");
  }
  std::string known;
  for (const Class& candidate : classes()) {
    if (name == candidate.name) return &candidate;
    known += (known.empty() ? "" : ", ") + std::string(candidate.name);
  }
  return unsupported(std::string(kConfigFile) + ": tokenizer_class: " + utf8::printable(name) +
                     " is not supported for a file of token ranks; supported: " + known);
}

Result<Model> model_of(const std::vector<std::string>& tokens) {
  std::vector<Vocabulary::Entry> entries;
  std::vector<uint32_t> ranks;
  for (const std::string& token : tokens) {
    entries.push_back({token, static_cast<int32_t>(ranks.size())});
    ranks.push_back(static_cast<uint32_t>(ranks.size()));
  }
  COLIBRI_ASSIGN(Vocabulary vocabulary, Vocabulary::of(entries));
  ModelOptions options;
  options.bytes = true;
  options.ignore_merges = true;  // tiktoken looks for the whole piece first
  return Model::of_ranks(std::move(vocabulary), std::move(ranks), std::move(options));
}

// Those of the configuration, and what the class has for the other ids.
std::vector<AddedToken> special_tokens(const Class& kind, const CheckpointConfig& config,
                                       size_t ranks) {
  std::vector<AddedToken> tokens = config.added;
  const auto taken = [&](int32_t id) {
    return std::any_of(config.added.begin(), config.added.end(),
                       [&](const AddedToken& token) { return token.id == id; });
  };
  for (int32_t i = 0; i < kind.reserved_until; ++i) {
    AddedToken token;
    token.id = static_cast<int32_t>(ranks) + i;
    token.special = true;
    if (taken(token.id)) continue;
    const auto first = static_cast<int32_t>(kind.first.size());
    token.content =
        i < first
            ? std::string(kind.first[static_cast<size_t>(i)])
            : kind.reserved + std::to_string(kind.reserved_by_id ? token.id : i - first) + "|>";
    tokens.push_back(std::move(token));
  }
  std::sort(tokens.begin(), tokens.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  return tokens;
}

void fill_table(const std::vector<std::string>& ranks, TokenizerParts& parts) {
  const auto ids = std::max(static_cast<int32_t>(ranks.size()), parts.added.max_id() + 1);
  parts.table.resize(static_cast<size_t>(ids));
  for (int32_t id = 0; id < ids; ++id) {
    if (static_cast<size_t>(id) < ranks.size()) parts.table.set(id, ranks[static_cast<size_t>(id)]);
    const AddedToken* token = parts.added.with_id(id);
    if (token == nullptr) continue;
    parts.table.set(id, token->content);
    if (token->special) parts.table.set_special(id);
  }
}

Status set_roles(const Class& kind, const CheckpointConfig& config, TokenizerParts& parts) {
  for (const auto& [role, content] : config.roles) {
    const int32_t id = parts.added.id(content);
    if (id < 0) {
      return corrupt_data(std::string(kConfigFile) + ": " + role + "_token " +
                          utf8::printable(content) + " is no special token");
    }
    parts.roles[role] = {id};
  }
  parts.wrapping.parts.clear();
  for (const char* content : kind.put_in_front) {
    const int32_t id = parts.added.id(content);
    if (id < 0) {
      return corrupt_data(std::string(kConfigFile) + ": added_tokens_decoder: no " +
                          utf8::printable(content));
    }
    parts.wrapping.parts.push_back({false, {id}});
  }
  parts.wrapping.parts.push_back({true, {}});
  return {};
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> read_tokenizer_ranks(std::string_view ranks_file,
                                                        std::string_view tokenizer_config) {
  if (tokenizer_config.empty()) {
    return unsupported("a file of token ranks needs a tokenizer_config.json that names its class");
  }
  simdjson::dom::parser parser;
  COLIBRI_ASSIGN(const Value value, parse_json(parser, tokenizer_config, kConfigFile));
  COLIBRI_ASSIGN(const Class* kind, class_of(value));
  COLIBRI_ASSIGN(const CheckpointConfig config, read_checkpoint_config(value));
  const Result<std::vector<std::string>> ranks = read_rank_file(ranks_file);
  if (!ranks.ok()) return ranks.status().at("the file of token ranks");
  COLIBRI_ASSIGN(Model model, model_of(*ranks));
  COLIBRI_ASSIGN(KnownPreTokenizer pre_tokenizer, known_pre_tokenizer(kind->pattern));
  TokenizerParts parts{std::move(model), {}, {}, std::move(pre_tokenizer.steps), {}, {}, {}};
  parts.pre_tokenizers.byte_level = false;  // the tokens are bytes
  if (kind->nfc) parts.normalizer.nfc();
  // Special tokens are found in the text as it stands.
  const std::vector<AddedToken> tokens = special_tokens(*kind, config, ranks->size());
  COLIBRI_TRY(parts.added.add(tokens, parts.model.vocabulary(), parts.normalizer).at(kConfigFile));
  fill_table(*ranks, parts);
  COLIBRI_TRY(set_roles(*kind, config, parts));
  return std::make_unique<Tokenizer>(std::move(parts));
}

}  // namespace colibri::tokenizers
