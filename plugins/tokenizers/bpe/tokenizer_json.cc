// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/bpe/tokenizer_json.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/tokenizers/common/checkpoint_config.h"
#include "plugins/tokenizers/common/decoder.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr char kFile[] = "tokenizer.json";
constexpr char kConfigFile[] = "tokenizer_config.json";

class Reader {
 public:
  Reader(Model model, CheckpointConfig config)
      : parts_{std::move(model), {}, {}, {}, {}, {}, {}}, config_(std::move(config)) {}

  Result<std::unique_ptr<Tokenizer>> read(const Fields& file) {
    if (const std::optional<Value> normalizer = file.find("normalizer")) {
      COLIBRI_TRY(read_normalizer(*normalizer, parts_.normalizer));
    }
    if (const std::optional<Value> pre_tokenizer = file.find("pre_tokenizer")) {
      COLIBRI_TRY(read_pre_tokenizer(*pre_tokenizer, config_.prefix_space, parts_.pre_tokenizers));
    }
    COLIBRI_ASSIGN(const Value decoder_value, file.required("decoder"));
    COLIBRI_ASSIGN(const Decoder decoder, read_decoder(decoder_value));
    COLIBRI_TRY(read_added(file));
    fill_table(decoder);
    COLIBRI_TRY(read_roles());
    COLIBRI_TRY(read_wrapping(file));
    return std::make_unique<Tokenizer>(std::move(parts_));
  }

 private:
  const Vocabulary& vocabulary() const { return parts_.model.vocabulary(); }
  Status add(const std::vector<AddedToken>& tokens, const char* file) {
    return parts_.added.add(tokens, vocabulary(), parts_.normalizer).at(file);
  }

  // The tokens of the file, then those of the configuration that differ, then special tokens that
  // were never added.
  Status read_added(const Fields& file) {
    std::vector<AddedToken> tokens;
    if (const std::optional<Value> list = file.find("added_tokens")) {
      COLIBRI_ASSIGN(const std::vector<Value> values, list->array());
      for (const Value& value : values) {
        COLIBRI_ASSIGN(AddedToken token, read_added_token(value, true));
        tokens.push_back(std::move(token));
      }
    }
    COLIBRI_TRY(add(tokens, kFile));
    COLIBRI_TRY(add(config_.added, kConfigFile));
    tokens.clear();
    for (const std::string& content : config_.specials) {
      if (parts_.added.id(content) >= 0 || vocabulary().id(content) < 0) continue;
      AddedToken token;
      token.content = content;
      token.special = true;
      tokens.push_back(std::move(token));
    }
    return add(tokens, kConfigFile);
  }

  void fill_table(const Decoder& decoder) {
    const size_t ids = std::max(vocabulary().ids(), static_cast<size_t>(parts_.added.max_id() + 1));
    parts_.table = decoder.table();
    parts_.table.resize(ids);
    for (int32_t id = 0; id < static_cast<int32_t>(ids); ++id) {
      const AddedToken* token = parts_.added.with_id(id);
      const std::string_view content =
          token != nullptr ? std::string_view(token->content) : vocabulary().token(id);
      decoder.set(id, content, parts_.table);
      if (parts_.added.is_special(content)) parts_.table.set_special(id);
    }
  }

  int32_t id(std::string_view content) const {
    const int32_t added = parts_.added.id(content);
    return added >= 0 ? added : vocabulary().id(content);
  }

  Status read_roles() {
    for (const auto& [role, content] : config_.roles) {
      const int32_t token = id(content);
      if (token < 0) {
        return corrupt_data(std::string(kConfigFile) + ": " + role + "_token " +
                            utf8::printable(content) + " is no token of " + kFile);
      }
      parts_.roles[role] = {token};
    }
    const int32_t unknown = parts_.model.unknown_id();
    if (unknown >= 0) parts_.roles.emplace("unk", std::vector<int32_t>{unknown});
    return {};
  }

  Status read_wrapping(const Fields& file) {
    if (!config_.replaces_post_processor) {
      const std::optional<Value> processor = file.find("post_processor");
      if (!processor) return {};
      COLIBRI_ASSIGN(parts_.wrapping, read_post_processor(*processor, parts_.table.ids()));
      return {};
    }
    for (const auto& [needed, name] :
         {std::pair(config_.add_bos, "bos"), std::pair(config_.add_eos, "eos")}) {
      if (needed && !parts_.roles.contains(name)) {
        return corrupt_data(std::string(kConfigFile) + ": add_" + name + "_token needs a " + name +
                            "_token");
      }
    }
    parts_.wrapping.parts.clear();
    if (config_.add_bos) parts_.wrapping.parts.push_back({false, parts_.roles["bos"]});
    parts_.wrapping.parts.push_back({true, {}});
    if (config_.add_eos) parts_.wrapping.parts.push_back({false, parts_.roles["eos"]});
    return {};
  }

  TokenizerParts parts_;
  CheckpointConfig config_;
};

}  // namespace

Status check_bpe(std::string_view tokenizer_json) {
  simdjson::dom::parser parser;
  COLIBRI_ASSIGN(const Value root, parse_json(parser, tokenizer_json, kFile));
  simdjson::dom::element model;
  if (root.element()["model"].get(model) != simdjson::SUCCESS) {
    return corrupt_data("tokenizer.json has no model");
  }
  std::string_view type = "BPE";  // old files do not say
  simdjson::dom::element merges;
  if (model["type"].get(type) == simdjson::INCORRECT_TYPE || type != "BPE") {
    return unsupported("the model is " + utf8::printable(type) + ", not BPE");
  }
  if (model["merges"].get(merges) != simdjson::SUCCESS) {
    return unsupported("the model has no merges");
  }
  return {};
}

Result<std::unique_ptr<Tokenizer>> read_tokenizer_json(std::string_view tokenizer_json,
                                                       std::string_view tokenizer_config) {
  CheckpointConfig config;
  if (!tokenizer_config.empty()) {
    simdjson::dom::parser parser;
    COLIBRI_ASSIGN(const Value value, parse_json(parser, tokenizer_config, kConfigFile));
    COLIBRI_ASSIGN(config, read_checkpoint_config(value));
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
  return Reader(std::move(model), std::move(config)).read(file);
}

}  // namespace colibri::tokenizers
