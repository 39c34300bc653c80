// SPDX-License-Identifier: Apache-2.0
// The plugin "gguf_vocabulary": the tokenizer that a GGUF file carries.
#include "plugins/common/entry.h"
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

constexpr colibri_plugin kPlugin =
    plugin::entry<PluginTable<GgufReader, Tokenizer>::kTable>("gguf_vocabulary", "0.1.0");

}  // namespace
}  // namespace colibri::tokenizers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::tokenizers::kPlugin;
}
