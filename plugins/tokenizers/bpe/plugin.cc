// SPDX-License-Identifier: Apache-2.0
// The plugin "bpe": a Hugging Face tokenizer.json with a BPE model.
#include "plugins/common/entry.h"
#include "plugins/tokenizers/bpe/tokenizer_json.h"
#include "plugins/tokenizers/common/plugin_table.h"

namespace colibri::tokenizers {
namespace {

struct JsonReader {
  static Status check(const Resources& files) {
    if (files["tokenizer.json"].empty()) return not_found("there is no tokenizer.json");
    return check_bpe(files["tokenizer.json"]);
  }
  static Result<std::unique_ptr<Tokenizer>> read(const Resources& files) {
    if (files["tokenizer.json"].empty()) return not_found("tokenizer.json is missing or empty");
    return read_tokenizer_json(files["tokenizer.json"], files["tokenizer_config.json"]);
  }
};

constexpr colibri_plugin kPlugin =
    plugin::entry<PluginTable<JsonReader, Tokenizer>::kTable>("bpe", "0.1.0");

}  // namespace
}  // namespace colibri::tokenizers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::tokenizers::kPlugin;
}
