// SPDX-License-Identifier: Apache-2.0
// Whether a tokenizer.json is of this plugin's kind.
#pragma once

#include <string_view>

#include "runtime/base/status.h"

namespace colibri::bpe {

// Ok if the model is BPE and its tokens are decoded as bytes; else the reason in a few words.
// Details that are not supported are a matter for reading the file, where they can be named in
// full.
Status check_byte_level_bpe(std::string_view tokenizer_json);

}  // namespace colibri::bpe
