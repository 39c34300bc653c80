// SPDX-License-Identifier: Apache-2.0
// The plugin "tiktoken": checkpoints with token ranks only. Like "sentencepiece" it stands behind
// "bpe": a tokenizer.json says more.
#include "plugins/common/entry.h"
#include "plugins/tokenizers/common/plugin_table.h"
#include "plugins/tokenizers/tiktoken/rank_file.h"
#include "plugins/tokenizers/tiktoken/tokenizer_ranks.h"

namespace colibri::tokenizers {
namespace {

struct RankReader {
  static std::string_view ranks(const Resources& files) {
    for (const char* name : {"tiktoken.model", "qwen.tiktoken", "tokenizer.model"}) {
      if (is_rank_file(files[name])) return files[name];
    }
    return {};
  }
  static Status check(const Resources& files) {
    return ranks(files).empty() ? not_found("there is no file of token ranks") : Status();
  }
  static Result<std::unique_ptr<Tokenizer>> read(const Resources& files) {
    COLIBRI_TRY(check(files));
    return read_tokenizer_ranks(ranks(files), files["tokenizer_config.json"]);
  }
};

constexpr colibri_plugin kPlugin =
    plugin::entry<PluginTable<RankReader, Tokenizer>::kTable>("tiktoken", "0.1.0");

}  // namespace
}  // namespace colibri::tokenizers

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::tokenizers::kPlugin;
}
