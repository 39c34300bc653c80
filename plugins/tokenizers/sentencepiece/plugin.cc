// SPDX-License-Identifier: Apache-2.0
// The plugin "sentencepiece": SentencePiece models, unigram and BPE. Its rank is below that of
// "bpe": where a checkpoint also has a tokenizer.json, that is what its users' programs read, and
// it may say more (added tokens, templates) than the model it was made from.
#include "plugins/common/entry.h"
#include "plugins/tokenizers/common/plugin_table.h"
#include "plugins/tokenizers/sentencepiece/tokenizer_model.h"

namespace colibri::tokenizers {
namespace {

struct ModelReader {
  // The first field of a model is a piece; files of token ranks are text.
  static Status check(const Resources& files) {
    const std::string_view model = files["tokenizer.model"];
    if (model.empty()) return not_found("there is no tokenizer.model");
    return model[0] == '\x0A' ? Status() : unsupported("tokenizer.model is no SentencePiece model");
  }
  static Result<std::unique_ptr<ModelTokenizer>> read(const Resources& files) {
    COLIBRI_TRY(check(files));
    return ModelTokenizer::read(files["tokenizer.model"], files["tokenizer_config.json"]);
  }
};

constexpr colibri_plugin kPlugin =
    plugin::entry<PluginTable<ModelReader, ModelTokenizer>::kTable>("sentencepiece", "0.1.0");

}  // namespace
}  // namespace colibri::tokenizers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::tokenizers::kPlugin;
}
