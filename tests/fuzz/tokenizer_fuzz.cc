// SPDX-License-Identifier: Apache-2.0
// A hostile tokenizer.json, tokenizer_config.json and text for the plugin bpe. The input is the
// three, with NUL bytes between them; a text may hold further ones.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/use_tokenizer.h"

namespace {

using colibri::testing::PluginTokenizer;

std::string_view next_part(std::string_view& input) {
  const std::string_view part = input.substr(0, input.find('\0'));
  input.remove_prefix(std::min(input.size(), part.size() + 1));
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view file = next_part(input);
  const std::string_view config = next_part(input);
  const auto tokenizer = PluginTokenizer::create(colibri_plugin_v1(), file, config);
  colibri::testing::use_tokenizer(tokenizer, input);
  return 0;
}
