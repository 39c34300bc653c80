// SPDX-License-Identifier: Apache-2.0
#include "tests/tokenizer/plugin_tokenizer.h"

namespace colibri::testing {

Result<PluginTokenizer> PluginTokenizer::create(const colibri_plugin* plugin,
                                                const std::vector<Resource>& files) {
  const auto* table =
      static_cast<const colibri_tokenizer_1*>(plugin->get_interface("colibri.tokenizer/1"));
  if (table == nullptr) return unsupported("the plugin is no tokenizer");
  std::vector<colibri_resource> resources;
  for (const Resource& file : files) {
    resources.push_back({sizeof(colibri_resource), to_c(file.name), to_c(file.bytes)});
  }
  void* tokenizer = nullptr;
  colibri_error error = empty_error();
  const colibri_status status = table->create(
      resources.data(), static_cast<uint32_t>(resources.size()), nullptr, &tokenizer, &error);
  if (status != COLIBRI_OK) return from_c(status, error, "create");
  return PluginTokenizer(table, tokenizer);
}

Result<PluginTokenizer> PluginTokenizer::create(const colibri_plugin* plugin, std::string_view file,
                                                std::string_view config) {
  std::vector<Resource> files = {{"tokenizer.json", file}};
  if (!config.empty()) files.push_back({"tokenizer_config.json", config});
  return create(plugin, files);
}

Result<std::vector<int32_t>> PluginTokenizer::encode(std::string_view text, uint32_t flags) const {
  std::vector<int32_t> ids(16);  // too small for many texts: the size is then asked for
  size_t n = 0;
  for (;;) {
    colibri_error error = empty_error();
    const colibri_status status =
        table_->encode(get(), to_c(text), flags, ids.data(), ids.size(), &n, &error);
    if (status != COLIBRI_OK) return from_c(status, error, "encode");
    const bool complete = n <= ids.size();
    ids.resize(n);
    if (complete) return ids;
  }
}

std::string PluginTokenizer::decode(const std::vector<int32_t>& ids, bool skip_special) const {
  std::vector<std::byte> state(table_->decode_state_bytes(get()));
  std::string text;
  std::vector<char> piece(8);
  const auto append = [&](auto&& call) {
    size_t n = 0;
    while (call(piece.data(), piece.size(), &n) == COLIBRI_OUT_OF_MEMORY) piece.resize(n);
    text.append(piece.data(), n);
  };
  for (const int32_t id : ids) {
    append([&](char* out, size_t capacity, size_t* n) {
      return table_->decode_next(get(), state.data(), id, skip_special, out, capacity, n);
    });
  }
  append([&](char* out, size_t capacity, size_t* n) {
    return table_->decode_finish(get(), state.data(), out, capacity, n);
  });
  return text;
}

}  // namespace colibri::testing
