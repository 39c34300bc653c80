// SPDX-License-Identifier: Apache-2.0
// What a SentencePiece model file says of itself, read before the library sees it: the library ends
// the process on some of the files that this refuses. Field numbers are those of
// sentencepiece_model.proto.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/token_type.h"
#include "runtime/base/status.h"

namespace colibri::tokenizers {

struct ModelProto {
  enum class Kind : uint64_t { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
  struct Piece {
    std::string_view text;
    float score = 0;
    TokenType type = TokenType::kNormal;
  };

  std::vector<Piece> pieces;  // by id
  Kind kind = Kind::kUnigram;
  bool whitespace_as_suffix = false;
  std::string_view bos = "<s>", eos = "</s>", pad = "<pad>";
  std::string_view character_map;  // precompiled; empty = none
  bool add_dummy_prefix = true;
  bool escape_whitespaces = true;
  std::string_view denormalizer_map;
};

// Views into `file`. COLIBRI_CORRUPT_DATA for what is no sound model, COLIBRI_UNSUPPORTED by name
// for kinds and options that the plugin does not do.
Result<ModelProto> read_model_proto(std::string_view file);

}  // namespace colibri::tokenizers
