// SPDX-License-Identifier: Apache-2.0
// The plugin "bpe": a Hugging Face tokenizer.json with a BPE model.
#include <cstring>

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

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.tokenizer/1") == 0 ? &PluginTable<JsonReader, Tokenizer>::kTable
                                                     : nullptr;
}

const colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "bpe", "0.1.0", nullptr, nullptr, get_interface};

}  // namespace
}  // namespace colibri::tokenizers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::tokenizers::kPlugin;
}
