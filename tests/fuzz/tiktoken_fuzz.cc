// SPDX-License-Identifier: Apache-2.0
// Hostile token ranks, tokenizer_config.json and text for the plugin tiktoken. The input is the
// three, with NUL bytes between them; a text may hold further ones.
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/fuzz/use_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view ranks = colibri::testing::next_part(input);
  const std::string_view config = colibri::testing::next_part(input);
  const auto tokenizer = colibri::testing::PluginTokenizer::create(
      colibri_plugin_v1(), std::vector<colibri::testing::Resource>{
                               {"tiktoken.model", ranks}, {"tokenizer_config.json", config}});
  colibri::testing::use_tokenizer(tokenizer, input);
  return 0;
}
