// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace colibri::engine {
namespace {

constexpr const char* kInterface = "colibri.tokenizer/1";
// What tokenizer plugins may want to see of a checkpoint.
constexpr std::array kResources = {"tokenizer.json", "tokenizer_config.json", "tokenizer.model",
                                   "tiktoken.model", "qwen.tiktoken",         "tokenizer.gguf"};
constexpr size_t kDecodeBytes = 4096;

std::vector<colibri_resource> resources_of(const model::ModelSource& source) {
  std::vector<colibri_resource> resources;
  for (const char* name : kResources) {
    auto bytes = source.resource(name);
    if (!bytes.ok()) continue;
    colibri_resource resource = {};
    resource.struct_size = sizeof(resource);
    resource.name = to_c(name);
    resource.bytes = to_c(*bytes);
    resources.push_back(resource);
  }
  return resources;
}

using Candidates = std::vector<std::shared_ptr<const plugin::Plugin>>;

// The first that accepts, or why none does.
Result<std::shared_ptr<const plugin::Plugin>> accepting(
    const Candidates& candidates, const std::vector<colibri_resource>& resources,
    const plugin::Registry& registry) {
  std::string answers;
  for (const auto& candidate : candidates) {
    char why_not[128] = {};
    const auto* table = candidate->interface<colibri_tokenizer_1>(kInterface);
    const auto count = static_cast<uint32_t>(resources.size());
    if (table->accepts(resources.data(), count, why_not) != 0) return candidate;
    answers += "\n  " + candidate->id() + ": " + std::string(why_not, strnlen(why_not, 128));
  }
  return unsupported("no tokenizer plugin accepts this model" +
                     (answers.empty() ? "; " + registry.explain(kInterface) : ":" + answers));
}

}  // namespace

std::span<const char* const> Tokenizer::resources() {
  return kResources;
}

std::string Tokenizer::known_files() {
  std::string names;
  for (const char* name : kResources) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

Result<std::unique_ptr<Tokenizer>> Tokenizer::open(const plugin::Registry& registry,
                                                   const config::PluginChoice& choice,
                                                   const model::ModelSource& source) {
  const std::vector<colibri_resource> resources = resources_of(source);
  const bool chosen = choice.plugin != "auto";
  if (resources.empty() && !chosen) return std::unique_ptr<Tokenizer>();
  Candidates candidates = registry.offers(kInterface);
  if (chosen) {
    COLIBRI_ASSIGN(auto named, registry.find(kInterface, choice.plugin));
    candidates = {std::move(named)};
  }
  COLIBRI_ASSIGN(auto plugin, accepting(candidates, resources, registry));

  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer);
  tokenizer->table_ = plugin->interface<colibri_tokenizer_1>(kInterface);
  COLIBRI_ASSIGN(tokenizer->instance_, plugin::Instance::create(std::move(plugin), choice.options,
                                                                choice.key + ".options"));
  colibri_error error = empty_error();
  const colibri_status code =
      tokenizer->table_->create(resources.data(), static_cast<uint32_t>(resources.size()),
                                tokenizer->instance_->host(), &tokenizer->handle_, &error);
  COLIBRI_TRY(from_c(code, error, "reading it").at("tokenizer " + tokenizer->plugin_id()));
  return tokenizer;
}

Tokenizer::~Tokenizer() {
  if (handle_ != nullptr) table_->destroy(handle_);
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, uint32_t flags) const {
  // One id a byte is the most that usually comes; a second call settles the rest.
  std::vector<int32_t> ids(text.size() + 8);
  for (;;) {
    size_t n = 0;
    colibri_error error = empty_error();
    const colibri_status code =
        table_->encode(handle_, to_c(text), flags, ids.data(), ids.size(), &n, &error);
    COLIBRI_TRY(from_c(code, error, "encoding the text"));
    const bool fits = n <= ids.size();
    ids.resize(n);
    if (fits) return ids;
  }
}

Result<std::string> Tokenizer::decode(const int32_t* ids, size_t n, bool skip_special) const {
  TextDecoder decoder(*this, skip_special);
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    COLIBRI_ASSIGN(const std::string_view piece, decoder.next(ids[i]));
    text += piece;
  }
  COLIBRI_ASSIGN(const std::string_view rest, decoder.finish());
  text += rest;
  return text;
}

std::vector<int32_t> Tokenizer::special(std::string_view role) const {
  std::vector<int32_t> ids(16);
  size_t n = 0;
  if (table_->special(handle_, to_c(role), ids.data(), ids.size(), &n) != COLIBRI_OK) n = 0;
  ids.resize(std::min(n, ids.size()));
  return ids;
}

TextDecoder::TextDecoder(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(tokenizer), skip_special_(skip_special), text_(kDecodeBytes, '\0') {
  const size_t bytes = tokenizer.table_->decode_state_bytes(tokenizer.handle_);
  state_.resize(bytes / sizeof(std::max_align_t) + 1);
}

template <typename Step>
Result<std::string_view> TextDecoder::take(Step step) {
  for (;;) {
    size_t n = 0;
    const colibri_status code = step(text_.data(), text_.size(), &n);
    if (code == COLIBRI_OK) return std::string_view(text_).substr(0, n);
    if (code != COLIBRI_OUT_OF_MEMORY || n <= text_.size()) {
      return Status(code, "tokenizer " + tokenizer_.plugin_id() + ": decoding failed with status " +
                              std::to_string(code));
    }
    text_.resize(n);
  }
}

Result<std::string_view> TextDecoder::next(int32_t id) {
  return take([&](char* text, size_t capacity, size_t* n) {
    return tokenizer_.table_->decode_next(tokenizer_.handle_, state_.data(), id,
                                          skip_special_ ? 1 : 0, text, capacity, n);
  });
}

Result<std::string_view> TextDecoder::finish() {
  return take([&](char* text, size_t capacity, size_t* n) {
    return tokenizer_.table_->decode_finish(tokenizer_.handle_, state_.data(), text, capacity, n);
  });
}

void TextDecoder::reset() {
  std::fill(state_.begin(), state_.end(), std::max_align_t{});
}

}  // namespace colibri::engine
