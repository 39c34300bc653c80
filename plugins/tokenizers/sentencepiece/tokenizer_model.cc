// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/sentencepiece/tokenizer_model.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <utility>

#include "plugins/tokenizers/common/checkpoint_config.h"
#include "plugins/tokenizers/common/replace.h"
#include "plugins/tokenizers/sentencepiece/model_proto.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr char kFile[] = "tokenizer.model";
constexpr char kConfigFile[] = "tokenizer_config.json";
constexpr char kMark[] = "\u2581";  // for a space

// normalizer_spec {add_dummy_prefix: false}. A later part of a message overrules an earlier one.
constexpr std::string_view kNoDummyPrefix("\x1A\x02\x18\x00", 4);

std::string unchanged(std::string_view text) {
  return std::string(text);
}

Result<Vocabulary> vocabulary_of(const ModelProto& model) {
  std::vector<Vocabulary::Entry> entries;
  for (const ModelProto::Piece& piece : model.pieces) {
    entries.push_back({piece.text, static_cast<int32_t>(entries.size())});
  }
  return Vocabulary::of(entries);
}

}  // namespace

ModelTokenizer::ModelTokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
ModelTokenizer::~ModelTokenizer() = default;

Result<std::unique_ptr<ModelTokenizer>> ModelTokenizer::read(std::string_view bytes,
                                                             std::string_view config_bytes) {
  Result<ModelProto> model = read_model_proto(bytes);
  if (!model.ok()) return model.status().at(kFile);
  CheckpointConfig config;
  if (!config_bytes.empty()) {
    simdjson::dom::parser parser;
    COLIBRI_ASSIGN(const Value value, parse_json(parser, config_bytes, kConfigFile));
    COLIBRI_ASSIGN(config, read_checkpoint_config(value));
  }
  COLIBRI_ASSIGN(Vocabulary vocabulary, vocabulary_of(*model));
  std::unique_ptr<ModelTokenizer> tokenizer(new ModelTokenizer(std::move(vocabulary)));
  COLIBRI_ASSIGN(tokenizer->processor_, load(bytes));
  if (model->add_dummy_prefix && !config.legacy.value_or(true)) {
    COLIBRI_ASSIGN(tokenizer->later_, load(std::string(bytes) + std::string(kNoDummyPrefix)));
  }
  COLIBRI_TRY(tokenizer->add_tokens(*model, config));
  tokenizer->fill_table(*model);
  COLIBRI_TRY(tokenizer->read_roles(*model, config));
  return tokenizer;
}

Result<ModelTokenizer::Processor> ModelTokenizer::load(std::string_view model) {
  auto processor = std::make_unique<sentencepiece::SentencePieceProcessor>();
  const auto status = processor->LoadFromSerializedProto(model);
  if (!status.ok()) return corrupt_data(std::string(kFile) + ": " + status.ToString());
  return processor;
}

// Control pieces are special; user-defined ones are the library's own matter.
Status ModelTokenizer::add_tokens(const ModelProto& model, const CheckpointConfig& config) {
  std::vector<AddedToken> tokens;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const ModelProto::Piece& piece = model.pieces[i];
    if (piece.type != TokenType::kControl && piece.type != TokenType::kUnknown) continue;
    AddedToken token;
    token.content = piece.text;
    token.id = static_cast<int32_t>(i);
    token.special = true;
    tokens.push_back(std::move(token));
  }
  COLIBRI_TRY(added_.add(tokens, vocabulary_, unchanged).at(kFile));
  COLIBRI_TRY(added_.add(config.added, vocabulary_, unchanged).at(kConfigFile));
  tokens.clear();
  for (const std::string& content : config.specials) {
    if (added_.id(content) >= 0 || vocabulary_.id(content) < 0) continue;
    AddedToken token;
    token.content = content;
    token.special = true;
    tokens.push_back(std::move(token));
  }
  return added_.add(tokens, vocabulary_, unchanged).at(kConfigFile);
}

void ModelTokenizer::fill_table(const ModelProto& model) {
  TextRules rules;
  rules.strip = model.add_dummy_prefix ? 1 : 0;
  table_ = DecodeTable(rules);
  const size_t ids = std::max(vocabulary_.ids(), static_cast<size_t>(added_.max_id() + 1));
  table_.resize(ids);
  for (int32_t id = 0; id < static_cast<int32_t>(ids); ++id) {
    const AddedToken* token = added_.with_id(id);
    const std::string content =
        token != nullptr ? token->content : std::string(vocabulary_.token(id));
    const size_t index = static_cast<size_t>(id);
    const bool byte = index < model.pieces.size() && model.pieces[index].type == TokenType::kByte;
    if (byte) {
      table_.set_byte(id, *byte_of(content));
    } else {
      table_.set(id, replaced(content, kMark, " "));
    }
    if (added_.is_special(content)) table_.set_special(id);
  }
}

Status ModelTokenizer::read_roles(const ModelProto& model, const CheckpointConfig& config) {
  const auto piece = [&](const char* role, std::string_view text) {
    const int32_t found = vocabulary_.id(text);
    if (found >= 0 && model.pieces[static_cast<size_t>(found)].type == TokenType::kControl) {
      roles_[role] = {found};
    }
  };
  piece("bos", model.bos);
  piece("eos", model.eos);
  piece("pad", model.pad);
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    if (model.pieces[i].type == TokenType::kUnknown) roles_["unk"] = {static_cast<int32_t>(i)};
  }
  for (const auto& [role, content] : config.roles) {
    roles_[role] = {id(content)};
    if (roles_[role][0] < 0) {
      return corrupt_data(std::string(kConfigFile) + ": " + role + "_token " +
                          utf8::printable(content) + " is no token of " + kFile);
    }
  }
  add_bos_ = config.add_bos_token.value_or(roles_.contains("bos"));
  add_eos_ = config.add_eos_token.value_or(false);
  for (const auto& [needed, role] : {std::pair(add_bos_, "bos"), std::pair(add_eos_, "eos")}) {
    if (needed && !roles_.contains(role)) {
      return corrupt_data(std::string(kConfigFile) + ": add_" + role + "_token needs a " + role +
                          "_token");
    }
  }
  return {};
}

Status ModelTokenizer::encode(std::string_view text, bool parse_special, bool add_special,
                              std::vector<int32_t>& ids) const {
  if (add_special && add_bos_) ids.push_back(roles_.find("bos")->second[0]);
  std::vector<Section> sections;
  added_.find(text, false, parse_special, sections);
  for (const Section& section : sections) {
    if (section.id >= 0) {
      ids.push_back(section.id);
      continue;
    }
    const Processor& processor = later_ && section.range.begin > 0 ? later_ : processor_;
    COLIBRI_TRY(encode_text(
        *processor, text.substr(section.range.begin, section.range.end - section.range.begin),
        ids));
  }
  if (add_special && add_eos_) ids.push_back(roles_.find("eos")->second[0]);
  return {};
}

Status ModelTokenizer::encode_text(const sentencepiece::SentencePieceProcessor& processor,
                                   std::string_view text, std::vector<int32_t>& ids) const {
  std::vector<int> found;
  const auto status = processor.Encode(text, &found);
  if (!status.ok()) return internal_error("sentencepiece: " + status.ToString());
  ids.insert(ids.end(), found.begin(), found.end());
  return {};
}

int32_t ModelTokenizer::id(std::string_view content) const {
  const int32_t added = added_.id(content);
  return added >= 0 ? added : vocabulary_.id(content);
}

const std::vector<int32_t>& ModelTokenizer::role(std::string_view name) const {
  static const std::vector<int32_t> kNone;
  const auto found = roles_.find(name);
  return found == roles_.end() ? kNone : found->second;
}

}  // namespace colibri::tokenizers
