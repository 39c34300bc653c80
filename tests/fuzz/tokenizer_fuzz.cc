// SPDX-License-Identifier: Apache-2.0
// A hostile tokenizer.json, tokenizer_config.json and text for the plugin bpe. The input is the
// three, with NUL bytes between them; a text may hold further ones.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/utf8.h"
#include "tests/tokenizer/plugin_tokenizer.h"

namespace {

using colibri::testing::PluginTokenizer;

void expect(bool truth) {
  if (!truth) std::abort();
}

std::string_view next_part(std::string_view& input) {
  const std::string_view part = input.substr(0, input.find('\0'));
  input.remove_prefix(std::min(input.size(), part.size() + 1));
  return part;
}

void use(const PluginTokenizer& tokenizer, std::string_view text) {
  const auto vocabulary = static_cast<int32_t>(tokenizer.table().vocabulary(tokenizer.get()));
  for (uint32_t flags = 0; flags < 4; ++flags) {
    const auto ids = tokenizer.encode(text, flags);
    if (!ids.ok()) continue;  // a pattern may give up, a token may be missing
    for (const int32_t id : *ids) expect(id >= 0 && id < vocabulary);
    for (const bool skip : {false, true}) {
      expect(colibri::utf8::valid(tokenizer.decode(*ids, skip)));
    }
  }
  const int32_t id = tokenizer.table().token_id(tokenizer.get(), colibri::to_c(text));
  expect(id >= -1 && id < vocabulary);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view file = next_part(input);
  const std::string_view config = next_part(input);
  const auto tokenizer = PluginTokenizer::create(colibri_plugin_v1(), file, config);
  if (tokenizer.ok()) {
    use(*tokenizer, input);
  } else {
    expect(!tokenizer.status().text().empty());
  }
  return 0;
}
