// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/gguf/tokenizer_gguf.h"

#include <algorithm>
#include <utility>

#include "plugins/tokenizers/common/byte_level.h"
#include "plugins/tokenizers/common/known_patterns.h"
#include "plugins/tokenizers/common/replace.h"
#include "plugins/tokenizers/gguf/vocabulary_keys.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr char kMark[] = "\u2581";  // for a space

using Token = VocabularyKeys::Token;

// Control tokens are special; these and user-defined ones are found in the text as they stand.
bool is_added(const Token& token) {
  return token.type == TokenType::kControl || token.type == TokenType::kUserDefined ||
         token.type == TokenType::kUnknown;
}

Result<Vocabulary> vocabulary_of(const VocabularyKeys& keys) {
  std::vector<Vocabulary::Entry> entries;
  for (size_t i = 0; i < keys.tokens.size(); ++i) {
    if (keys.tokens[i].text.empty()) continue;  // a gap
    entries.push_back({keys.tokens[i].text, static_cast<int32_t>(i)});
  }
  Result<Vocabulary> vocabulary = Vocabulary::of(entries);
  return vocabulary.ok() ? std::move(vocabulary) : vocabulary.status().at("tokenizer.ggml.tokens");
}

Result<MergeTable> merges_of(const VocabularyKeys& keys, const Vocabulary& vocabulary) {
  if (keys.merges.empty()) return corrupt_data("tokenizer.ggml.merges: missing or empty");
  MergeTable merges;
  merges.reserve(keys.merges.size());
  uint32_t rank = 0;
  for (const std::string_view merge : keys.merges) {
    const std::string place = "tokenizer.ggml.merges[" + std::to_string(rank) + "]";
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || merge.find(' ', space + 1) != std::string_view::npos) {
      return corrupt_data(place + ": expected two tokens and one space between them");
    }
    COLIBRI_TRY(
        merges.add(merge.substr(0, space), merge.substr(space + 1), rank, vocabulary).at(place));
    ++rank;
  }
  return merges;
}

// The higher the score, the sooner a token is made. Control tokens and the like are never made of
// text: llama.cpp does not look at the type here, SentencePiece does.
std::vector<uint32_t> ranks_of(const VocabularyKeys& keys) {
  std::vector<double> scores;
  for (const Token& token : keys.tokens) {
    if (token.type == TokenType::kNormal) scores.push_back(token.score);
  }
  std::sort(scores.begin(), scores.end(), std::greater<>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  std::vector<uint32_t> ranks(keys.tokens.size(), Model::kNeverMerged);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (keys.tokens[i].type != TokenType::kNormal) continue;
    const auto place =
        std::lower_bound(scores.begin(), scores.end(), keys.tokens[i].score, std::greater<>());
    ranks[i] = static_cast<uint32_t>(place - scores.begin());
  }
  return ranks;
}

TokenizerParts parts_of(Model model) {
  return {std::move(model), {}, {}, {}, {}, {}, {}};
}

Result<TokenizerParts> read_gpt2(const VocabularyKeys& keys, bool& add_bos) {
  if (keys.pre.empty()) {
    return unsupported(
        "tokenizer.ggml.pre: missing; without its name the pre-tokenizer is not known. Convert the "
        "model anew");
  }
  Result<KnownPreTokenizer> pre_tokenizer = known_pre_tokenizer(keys.pre);
  if (!pre_tokenizer.ok()) return pre_tokenizer.status().at("tokenizer.ggml.pre");
  COLIBRI_ASSIGN(Vocabulary vocabulary, vocabulary_of(keys));
  COLIBRI_ASSIGN(MergeTable merges, merges_of(keys, vocabulary));
  ModelOptions options;
  options.ignore_merges = pre_tokenizer->ignore_merges;
  TokenizerParts parts =
      parts_of(Model::of_merges(std::move(vocabulary), std::move(merges), std::move(options)));
  parts.pre_tokenizers = std::move(pre_tokenizer->steps);
  parts.table.resize(keys.tokens.size());
  for (size_t i = 0; i < keys.tokens.size(); ++i) {
    const Token& token = keys.tokens[i];
    if (token.type == TokenType::kUnused) continue;  // says nothing
    parts.table.set(static_cast<int32_t>(i),
                    is_added(token) ? std::string(token.text) : bytes_of_token(token.text));
  }
  add_bos = pre_tokenizer->add_bos;
  return parts;
}

Result<TokenizerParts> read_llama(const VocabularyKeys& keys) {
  if (!keys.has_scores) return corrupt_data("tokenizer.ggml.scores: missing; \"llama\" needs them");
  COLIBRI_ASSIGN(Vocabulary vocabulary, vocabulary_of(keys));
  ModelOptions options;
  options.byte_fallback = true;
  const bool space_prefix = keys.add_space_prefix.value_or(true);
  TokenizerParts parts =
      parts_of(Model::of_ranks(std::move(vocabulary), ranks_of(keys), std::move(options)));
  if (space_prefix) parts.normalizer.prepend(kMark);
  parts.normalizer.replace(" ", kMark);
  TextRules rules;
  rules.strip = space_prefix ? 1 : 0;
  parts.table = DecodeTable(rules);
  parts.table.resize(keys.tokens.size());
  size_t bytes = 0;
  for (size_t i = 0; i < keys.tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    const Token& token = keys.tokens[i];
    if (token.type == TokenType::kByte) {
      const std::optional<char> byte = byte_of(token.text);
      if (!byte) {
        return corrupt_data("tokenizer.ggml.tokens[" + std::to_string(i) +
                            "]: a byte token must be <0x00> to <0xFF>, not " +
                            utf8::printable(token.text));
      }
      parts.table.set_byte(id, *byte);
      ++bytes;
    } else if (is_added(token)) {
      parts.table.set(id, std::string(token.text));
    } else if (token.type == TokenType::kNormal) {
      parts.table.set(id, replaced(token.text, kMark, " "));
    }
  }
  if (bytes != 256) {
    return unsupported("a \"llama\" vocabulary with " + std::to_string(bytes) +
                       " of the 256 byte tokens is not supported");
  }
  return parts;
}

Status add_tokens(const VocabularyKeys& keys, TokenizerParts& parts) {
  std::vector<AddedToken> tokens;
  for (size_t i = 0; i < keys.tokens.size(); ++i) {
    if (!is_added(keys.tokens[i])) continue;
    AddedToken token;
    token.content = keys.tokens[i].text;
    token.id = static_cast<int32_t>(i);
    token.special = keys.tokens[i].type != TokenType::kUserDefined;
    if (token.special) parts.table.set_special(token.id);
    tokens.push_back(std::move(token));
  }
  return parts.added.add(tokens, parts.model.vocabulary(), parts.normalizer)
      .at("tokenizer.ggml.tokens");
}

Status wrap(const VocabularyKeys& keys, bool add_bos, TokenizerParts& parts) {
  const bool add_eos = keys.add_eos.value_or(false);
  if (add_bos && !keys.bos) {
    return corrupt_data("tokenizer.ggml.add_bos_token needs tokenizer.ggml.bos_token_id");
  }
  if (add_eos && keys.ends.empty()) {
    return corrupt_data("tokenizer.ggml.add_eos_token needs tokenizer.ggml.eos_token_id");
  }
  parts.wrapping.parts.clear();
  if (add_bos) parts.wrapping.parts.push_back({false, {*keys.bos}});
  parts.wrapping.parts.push_back({true, {}});
  if (add_eos) parts.wrapping.parts.push_back({false, {keys.ends[0]}});
  if (keys.bos) parts.roles["bos"] = {*keys.bos};
  if (keys.unk) parts.roles["unk"] = {*keys.unk};
  if (keys.pad) parts.roles["pad"] = {*keys.pad};
  if (!keys.ends.empty()) parts.roles["eos"] = keys.ends;
  return {};
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> read_tokenizer_gguf(std::string_view file) {
  COLIBRI_ASSIGN(const VocabularyKeys keys, read_vocabulary_keys(file));
  bool add_bos = false;
  const auto read = [&]() -> Result<TokenizerParts> {
    if (keys.model == "gpt2") return read_gpt2(keys, add_bos);
    if (keys.model == "llama") {
      add_bos = true;
      return read_llama(keys);
    }
    return unsupported("tokenizer.ggml.model: " + utf8::printable(keys.model) +
                       " is not supported; supported: gpt2, llama");
  };
  COLIBRI_ASSIGN(TokenizerParts parts, read());
  COLIBRI_TRY(add_tokens(keys, parts));
  COLIBRI_TRY(wrap(keys, keys.add_bos.value_or(add_bos), parts));
  return std::make_unique<Tokenizer>(std::move(parts));
}

}  // namespace colibri::tokenizers
