// SPDX-License-Identifier: Apache-2.0
// A hostile vocabulary of a GGUF file and a text for the plugin gguf_vocabulary. The last byte of the input is
// the size of the text, which stands before it; the file is what stands before that.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/use_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using colibri::testing::PluginTokenizer;
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size - 1);
  const size_t text = std::min<size_t>(data[size - 1], input.size());
  const std::string_view file = input.substr(0, input.size() - text);
  const auto tokenizer = PluginTokenizer::create(
      colibri_plugin_v1(), std::vector<colibri::testing::Resource>{{"tokenizer.gguf", file}});
  colibri::testing::use_tokenizer(tokenizer, input.substr(file.size()));
  return 0;
}
