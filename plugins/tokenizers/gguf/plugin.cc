// SPDX-License-Identifier: Apache-2.0
// The plugin "gguf_vocabulary": the tokenizer that a GGUF file carries.
#include <cstring>

#include "plugins/tokenizers/common/plugin_table.h"
#include "plugins/tokenizers/gguf/tokenizer_gguf.h"

namespace colibri::tokenizers {
namespace {

struct GgufReader {
  static Status check(const Resources& files) {
    return files["tokenizer.gguf"].empty() ? not_found("there is no GGUF file") : Status();
  }
  static Result<std::unique_ptr<Tokenizer>> read(const Resources& files) {
    COLIBRI_TRY(check(files));
    return read_tokenizer_gguf(files["tokenizer.gguf"]);
  }
};

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.tokenizer/1") == 0 ? &PluginTable<GgufReader, Tokenizer>::kTable
                                                     : nullptr;
}

const colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "gguf_vocabulary", "0.1.0", nullptr, nullptr,
    get_interface};

}  // namespace
}  // namespace colibri::tokenizers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::tokenizers::kPlugin;
}
