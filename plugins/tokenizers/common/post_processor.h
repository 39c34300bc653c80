// SPDX-License-Identifier: Apache-2.0
// The post-processors of tokenizer.json: which special tokens stand around a text. ByteLevel,
// TemplateProcessing, Sequence.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/json.h"

namespace colibri::tokenizers {

// What is put around one text.
struct Template {
  struct Part {
    bool text;                 // the text itself, else:
    std::vector<int32_t> ids;  // of a special token
  };
  std::vector<Part> parts = {{true, {}}};

  // Wraps ids[from..]; without specials only the text, as often as it is named.
  void apply(bool specials, size_t from, std::vector<int32_t>& ids) const;
};

// Ids are below `ids`. Types other than those above are COLIBRI_UNSUPPORTED by name.
Result<Template> read_post_processor(const Value& value, int32_t ids);

}  // namespace colibri::tokenizers
