// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/bpe/tokenizer.h"

#include <algorithm>
#include <optional>

#include "plugins/tokenizers/bpe/byte_level.h"
#include "plugins/tokenizers/bpe/checkpoint_config.h"
#include "plugins/tokenizers/bpe/unicode.h"
#include "runtime/base/utf8.h"

namespace colibri::bpe {
namespace {

constexpr int kMaxDepth = 8;
constexpr char kFile[] = "tokenizer.json";
constexpr char kConfigFile[] = "tokenizer_config.json";

std::string unchanged(std::string_view text) {
  return std::string(text);
}

// NFC, or a Sequence of any number of it: doing it twice changes nothing.
Status read_normalizer(const Value& value, int depth, std::string (*&normalize)(std::string_view)) {
  COLIBRI_ASSIGN(const std::string_view type, value.type());
  if (type == "NFC") {
    normalize = nfc;
    return value.fields({"type"}).status();
  }
  if (type != "Sequence") {
    return value.refused("type " + utf8::printable(type) +
                         " is not supported; supported: Sequence, NFC");
  }
  if (depth == kMaxDepth) return value.expected("at most 8 levels of Sequence");
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "normalizers"}));
  COLIBRI_ASSIGN(const Value list, fields.required("normalizers"));
  COLIBRI_ASSIGN(const std::vector<Value> values, list.array());
  for (const Value& part : values) COLIBRI_TRY(read_normalizer(part, depth + 1, normalize));
  return {};
}

// ByteLevel, alone or as the only member of a Sequence.
Status check_decoder(const Value& value, int depth) {
  COLIBRI_ASSIGN(const std::string_view type, value.type());
  if (type == "ByteLevel") {  // its options concern encoding
    return value.fields({"type", "add_prefix_space", "trim_offsets", "use_regex"}).status();
  }
  if (type != "Sequence") {
    return value.refused("type " + utf8::printable(type) +
                         " is not supported; supported: ByteLevel");
  }
  if (depth == kMaxDepth) return value.expected("at most 8 levels of Sequence");
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "decoders"}));
  COLIBRI_ASSIGN(const Value list, fields.required("decoders"));
  COLIBRI_ASSIGN(const std::vector<Value> values, list.array());
  if (values.size() != 1) {
    return list.refused("only a single decoder, ByteLevel, is supported");
  }
  return check_decoder(values[0], depth + 1);
}

}  // namespace

struct Tokenizer::Scratch {
  SplitMemory split;
  MergeMemory merge;
  Pieces pieces;
  std::vector<Section> outer, inner;
};

Result<std::unique_ptr<Tokenizer>> Tokenizer::read(std::string_view tokenizer_json,
                                                   std::string_view tokenizer_config) {
  simdjson::dom::parser config_parser;
  std::optional<Value> config;
  if (!tokenizer_config.empty()) {
    COLIBRI_ASSIGN(config, parse_json(config_parser, tokenizer_config, kConfigFile));
  }
  simdjson::dom::parser parser;
  COLIBRI_ASSIGN(const Value root, parse_json(parser, tokenizer_json, kFile));
  // truncation and padding shape batches; transformers applies them only when a call asks for it.
  COLIBRI_ASSIGN(const Fields file,
                 root.fields({"version", "truncation", "padding", "added_tokens", "normalizer",
                              "pre_tokenizer", "post_processor", "decoder", "model"}));
  if (const std::optional<Value> version = file.find("version")) {
    COLIBRI_ASSIGN(const std::string_view text, version->string());
    if (text != "1.0") return version->refused("only \"1.0\" is supported");
  }
  COLIBRI_ASSIGN(const Value model_value, file.required("model"));
  COLIBRI_ASSIGN(Model model, Model::read(model_value));
  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer(std::move(model)));
  COLIBRI_TRY(tokenizer->read_parts(file, config ? &*config : nullptr));
  return tokenizer;
}

Status Tokenizer::read_parts(const Fields& file, const Value* config_value) {
  CheckpointConfig config;
  if (config_value != nullptr) {
    COLIBRI_ASSIGN(config, read_checkpoint_config(*config_value));
  }
  normalize_ = unchanged;
  if (const std::optional<Value> normalizer = file.find("normalizer")) {
    COLIBRI_TRY(read_normalizer(*normalizer, 0, normalize_));
  }
  if (const std::optional<Value> pre_tokenizer = file.find("pre_tokenizer")) {
    COLIBRI_TRY(read_pre_tokenizer(*pre_tokenizer, config.prefix_space, pre_tokenizers_));
  }
  COLIBRI_ASSIGN(const Value decoder, file.required("decoder"));
  COLIBRI_TRY(check_decoder(decoder, 0));
  COLIBRI_TRY(read_added(file, config));
  build_tables();
  COLIBRI_TRY(read_roles(config));
  if (config.replaces_post_processor) {
    template_.parts.clear();
    if (config.add_bos) template_.parts.push_back({false, {role("bos")}});
    template_.parts.push_back({true, {}});
    if (config.add_eos) template_.parts.push_back({false, {role("eos")}});
  } else if (const std::optional<Value> processor = file.find("post_processor")) {
    COLIBRI_ASSIGN(template_, read_post_processor(*processor, vocabulary()));
  }
  return {};
}

// The tokens of the file, then those of the configuration that differ, then special tokens that
// were never added.
Status Tokenizer::read_added(const Fields& file, const CheckpointConfig& config) {
  std::vector<AddedToken> tokens;
  if (const std::optional<Value> list = file.find("added_tokens")) {
    COLIBRI_ASSIGN(const std::vector<Value> values, list->array());
    for (const Value& value : values) {
      COLIBRI_ASSIGN(AddedToken token, read_added_token(value, true));
      tokens.push_back(std::move(token));
    }
  }
  COLIBRI_TRY(added_.add(tokens, model_.vocabulary(), normalize_).at(kFile));
  COLIBRI_TRY(added_.add(config.added, model_.vocabulary(), normalize_).at(kConfigFile));
  tokens.clear();
  for (const std::string& content : config.specials) {
    if (added_.id(content) >= 0 || model_.vocabulary().id(content) < 0) continue;
    AddedToken token;
    token.content = content;
    token.special = true;
    tokens.push_back(std::move(token));
  }
  return added_.add(tokens, model_.vocabulary(), normalize_).at(kConfigFile);
}

void Tokenizer::build_tables() {
  const size_t ids = std::max(model_.vocabulary().ids(), static_cast<size_t>(added_.max_id() + 1));
  bytes_.resize(ids);
  special_.resize(ids);
  for (size_t i = 0; i < ids; ++i) {
    const auto id = static_cast<int32_t>(i);
    const AddedToken* token = added_.with_id(id);
    const std::string_view content =
        token != nullptr ? std::string_view(token->content) : model_.vocabulary().token(id);
    bytes_[i] = bytes_of_token(content);
    special_[i] = added_.is_special(content);
  }
}

Status Tokenizer::read_roles(const CheckpointConfig& config) {
  for (const auto& [role, content] : config.roles) {
    roles_[role] = id(content);
    if (roles_[role] < 0) {
      return corrupt_data(std::string(kConfigFile) + ": " + role + "_token " +
                          utf8::printable(content) + " is no token of " + kFile);
    }
  }
  if (model_.unknown_id() >= 0) roles_.emplace("unk", model_.unknown_id());
  for (const auto& [needed, name] :
       {std::pair(config.add_bos, "bos"), std::pair(config.add_eos, "eos")}) {
    if (needed && role(name) < 0) {
      return corrupt_data(std::string(kConfigFile) + ": add_" + name + "_token needs a " + name +
                          "_token");
    }
  }
  return {};
}

Status Tokenizer::encode(std::string_view text, bool parse_special, bool add_special,
                         std::vector<int32_t>& ids) const {
  Scratch scratch;
  const size_t from = ids.size();
  COLIBRI_TRY(encode_text(text, parse_special, scratch, ids));
  template_.apply(add_special, from, ids);
  return {};
}

Status Tokenizer::encode_text(std::string_view text, bool parse_special, Scratch& scratch,
                              std::vector<int32_t>& ids) const {
  added_.find(text, false, parse_special, scratch.outer);
  for (const Section& section : scratch.outer) {
    if (section.id >= 0) {
      ids.push_back(section.id);
      continue;
    }
    const std::string normalized =
        normalize_(text.substr(section.range.begin, section.range.end - section.range.begin));
    scratch.inner.clear();
    added_.find(normalized, true, parse_special, scratch.inner);
    for (const Section& part : scratch.inner) {
      if (part.id >= 0) {
        ids.push_back(part.id);
        continue;
      }
      COLIBRI_TRY(encode_piece(
          std::string_view(normalized).substr(part.range.begin, part.range.end - part.range.begin),
          scratch, ids));
    }
  }
  return {};
}

Status Tokenizer::encode_piece(std::string_view normalized, Scratch& scratch,
                               std::vector<int32_t>& ids) const {
  Pieces& pieces = scratch.pieces;
  pieces.text = normalized;
  pieces.ranges = {{0, normalized.size()}};
  for (const auto& pre_tokenizer : pre_tokenizers_) {
    COLIBRI_TRY(pre_tokenizer->apply(pieces, scratch.split));
  }
  for (const Range range : pieces.ranges) {
    COLIBRI_TRY(model_.encode(pieces.at(range), scratch.merge, ids));
  }
  return {};
}

std::string_view Tokenizer::bytes(int32_t id) const {
  return id >= 0 && id < vocabulary() ? std::string_view(bytes_[static_cast<size_t>(id)])
                                      : std::string_view();
}

int32_t Tokenizer::id(std::string_view content) const {
  const int32_t added = added_.id(content);
  return added >= 0 ? added : model_.vocabulary().id(content);
}

bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && id < vocabulary() && special_[static_cast<size_t>(id)];
}

int32_t Tokenizer::role(std::string_view name) const {
  const auto found = roles_.find(name);
  return found == roles_.end() ? -1 : found->second;
}

void Tokenizer::decode(DecodeState& state, int32_t id, bool skip_special, TextOut& out) const {
  if (skip_special && is_special(id)) return;
  decode_bytes(state, bytes(id), out);
}

}  // namespace colibri::bpe
