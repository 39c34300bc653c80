// SPDX-License-Identifier: Apache-2.0
// A tokenizer of a plugin, made and used through its C table alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/tokenizer.h"
#include "runtime/base/status.h"

namespace colibri::testing {

struct Resource {  // a file of the checkpoint
  std::string_view name;
  std::string_view bytes;
};

class PluginTokenizer {
 public:
  static Result<PluginTokenizer> create(const colibri_plugin* plugin,
                                        const std::vector<Resource>& files);
  // From tokenizer.json and tokenizer_config.json; empty = the checkpoint has none.
  static Result<PluginTokenizer> create(const colibri_plugin* plugin, std::string_view file,
                                        std::string_view config = {});

  Result<std::vector<int32_t>> encode(std::string_view text, uint32_t flags) const;
  // Token by token, as a stream.
  std::string decode(const std::vector<int32_t>& ids, bool skip_special) const;

  const colibri_tokenizer_1& table() const { return *table_; }
  const void* get() const { return tokenizer_.get(); }

 private:
  PluginTokenizer(const colibri_tokenizer_1* table, void* tokenizer)
      : table_(table), tokenizer_(tokenizer, table->destroy) {}
  const colibri_tokenizer_1* table_;
  std::unique_ptr<void, void (*)(void*)> tokenizer_;
};

}  // namespace colibri::testing
