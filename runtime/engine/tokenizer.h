// SPDX-License-Identifier: Apache-2.0
// The model's tokenizer, made by a tokenizer plugin from the files of the checkpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/tokenizer.h"
#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"
#include "runtime/model/source.h"
#include "runtime/plugin/registry.h"

namespace colibri::engine {

// Immutable: any number of threads may use it.
class Tokenizer {
 public:
  // By the plugin that the pipeline names, or the first that accepts the model's files. Null if
  // the choice is "auto" and the model has no tokenizer files at all: ids still work then.
  static Result<std::unique_ptr<Tokenizer>> open(const plugin::Registry& registry,
                                                 const config::PluginChoice& choice,
                                                 const model::ModelSource& source);
  // The files of a model that tokenizers may want to see.
  static std::span<const char* const> resources();
  // The same as "tokenizer.json, tokenizer.model, ...", for messages.
  static std::string known_files();
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const std::string& plugin_id() const { return instance_->plugin().id(); }
  uint32_t vocabulary() const { return table_->vocabulary(handle_); }
  // flags: COLIBRI_ENCODE_*. Text that is not UTF-8 is refused with the byte.
  Result<std::vector<int32_t>> encode(std::string_view text, uint32_t flags) const;
  Result<std::string> decode(const int32_t* ids, size_t n, bool skip_special) const;
  std::string_view token_bytes(int32_t id) const {
    return from_c(table_->token_bytes(handle_, id));
  }
  bool is_special(int32_t id) const { return table_->is_special(handle_, id) != 0; }
  std::vector<int32_t> special(std::string_view role) const;  // "bos", "eos", "pad", "unk"

 private:
  friend class TextDecoder;
  Tokenizer() = default;

  std::unique_ptr<plugin::Instance> instance_;
  const colibri_tokenizer_1* table_ = nullptr;
  void* handle_ = nullptr;
};

// Streaming decode of one sequence: complete characters only. Used by one thread.
class TextDecoder {
 public:
  TextDecoder(const Tokenizer& tokenizer, bool skip_special);
  // The text that this token finishes, valid until the next call. Allocates only for a token
  // longer than all before.
  Result<std::string_view> next(int32_t id);
  // What is left of an unfinished character.
  Result<std::string_view> finish();
  void reset();

 private:
  template <typename Step>
  Result<std::string_view> take(Step step);

  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::vector<std::max_align_t> state_;
  std::string text_;
};

}  // namespace colibri::engine
