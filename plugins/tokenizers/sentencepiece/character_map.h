// SPDX-License-Identifier: Apache-2.0
// The precompiled character map of a SentencePiece model: a double-array trie (Darts-clone) of what
// is replaced, and the texts that replace it.
#pragma once

#include <string_view>

#include "runtime/base/status.h"

namespace colibri::tokenizers {

// Whether no search of any text leaves the map: the library follows it unchecked. An empty map is
// fine.
Status check_character_map(std::string_view map);

}  // namespace colibri::tokenizers
