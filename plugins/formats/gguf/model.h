// SPDX-License-Identifier: Apache-2.0
// A model in GGUF files: one file, or the parts of a split one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/format.h"
#include "plugins/formats/gguf/header.h"
#include "runtime/base/status.h"

namespace colibri::gguf {

class Model {
 public:
  static const char* vocabulary() { return "gguf"; }

  // Ok if a file that is there begins like a GGUF file.
  static Status accepts(const colibri_file* files);

  // Reads the headers of all parts.
  static Result<std::unique_ptr<Model>> open(const colibri_file* files);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return parts_.front().metadata; }  // of the first part

  // "tokenizer.gguf": a GGUF file (version 3) of the keys "tokenizer.*" alone, made on first use and
  // kept. "chat_template.jinja": the text of tokenizer.chat_template.
  Result<std::string_view> resource(std::string_view name);

 private:
  Status check_tensor_count() const;

  std::vector<Header> parts_;
  std::vector<Tensor> tensors_;
  std::string tokenizer_;  // empty = not made yet
};

}  // namespace colibri::gguf
