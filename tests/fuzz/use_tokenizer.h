// SPDX-License-Identifier: Apache-2.0
// Everything that a host does with a tokenizer, for the fuzz targets.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "runtime/base/utf8.h"
#include "tests/tokenizer/plugin_tokenizer.h"

namespace colibri::testing {

inline void expect(bool truth) {
  if (!truth) std::abort();
}

// The bytes up to the next NUL, which are taken off the input, and the NUL with them.
inline std::string_view next_part(std::string_view& input) {
  const std::string_view part = input.substr(0, input.find('\0'));
  input.remove_prefix(std::min(input.size(), part.size() + 1));
  return part;
}

// Ends the process if the tokenizer breaks its contract; a refusal must say why.
inline void use_tokenizer(const Result<PluginTokenizer>& made, std::string_view text) {
  if (!made.ok()) {
    expect(!made.status().text().empty());
    return;
  }
  const PluginTokenizer& tokenizer = *made;
  const auto vocabulary = static_cast<int32_t>(tokenizer.table().vocabulary(tokenizer.get()));
  for (uint32_t flags = 0; flags < 4; ++flags) {
    const auto ids = tokenizer.encode(text, flags);
    if (!ids.ok()) continue;  // a pattern may give up, a token may be missing
    for (const int32_t id : *ids) expect(id >= 0 && id < vocabulary);
    for (const bool skip : {false, true}) {
      expect(utf8::valid(tokenizer.decode(*ids, skip)));
    }
  }
  const int32_t id = tokenizer.table().token_id(tokenizer.get(), to_c(text));
  expect(id >= -1 && id < vocabulary);
}

}  // namespace colibri::testing
