// SPDX-License-Identifier: Apache-2.0
// A tokenizer whose checkpoint has token ranks only. Its pattern and its special tokens stand in the
// program that wrote it; known here are those of Kimi K2, Qwen 1 and ChatGLM 4, by the
// tokenizer_class of tokenizer_config.json.
#pragma once

#include <memory>
#include <string_view>

#include "plugins/tokenizers/common/tokenizer.h"

namespace colibri::tokenizers {

// COLIBRI_UNSUPPORTED by name for other classes.
Result<std::unique_ptr<Tokenizer>> read_tokenizer_ranks(std::string_view ranks,
                                                        std::string_view tokenizer_config);

}  // namespace colibri::tokenizers
