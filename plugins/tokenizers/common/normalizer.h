// SPDX-License-Identifier: Apache-2.0
// The normalizers of tokenizer.json: Sequence, NFC, Prepend, Replace of a string.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/json.h"

namespace colibri::tokenizers {

class Normalizer {
 public:
  using Step = std::function<std::string(std::string_view)>;

  bool empty() const { return steps_.empty(); }  // it changes nothing
  void nfc();
  void prepend(std::string_view what);  // to every text that is not empty
  void replace(std::string_view what, std::string_view by);

  // text is valid UTF-8. Thread-safe.
  std::string operator()(std::string_view text) const;

 private:
  std::vector<Step> steps_;
};

// Appends what a value of tokenizer.json says. A type that is not in the list above is
// COLIBRI_UNSUPPORTED by its name.
Status read_normalizer(const Value& value, Normalizer& normalizer);

}  // namespace colibri::tokenizers
