// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/sentencepiece/model_proto.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>

#include "plugins/tokenizers/common/vocabulary.h"
#include "plugins/tokenizers/sentencepiece/character_map.h"
#include "plugins/tokenizers/sentencepiece/wire_reader.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr size_t kMaxPiece = 4096;  // bytes

Status expect(const WireField& field, uint32_t type, const char* name) {
  return field.type == type ? Status()
                            : corrupt_data(std::string(name) + " has the wrong wire type");
}

template <typename T>
Status number(const WireField& field, const char* name, T& to) {
  COLIBRI_TRY(expect(field, WireField::kVarint, name));
  to = static_cast<T>(field.value);
  return {};
}

Status text(const WireField& field, const char* name, std::string_view& to) {
  COLIBRI_TRY(expect(field, WireField::kBytes, name));
  to = field.bytes;
  return {};
}

Status read_piece(std::string_view message, ModelProto::Piece& piece) {
  for (WireReader reader(message); reader.more();) {
    COLIBRI_ASSIGN(const WireField field, reader.next());
    if (field.number == 1) COLIBRI_TRY(text(field, "piece", piece.text));
    if (field.number == 2) {
      COLIBRI_TRY(expect(field, WireField::kFixed32, "score"));
      piece.score = field.as_float();
    }
    if (field.number == 3) {
      COLIBRI_TRY(expect(field, WireField::kVarint, "type"));
      if (field.value < 1 || field.value > 6) {
        return corrupt_data("type " + std::to_string(field.value) + " is none of 1 to 6");
      }
      piece.type = static_cast<TokenType>(field.value);
    }
  }
  if (piece.text.empty()) return corrupt_data("a piece without text");
  if (piece.text.size() > kMaxPiece) {
    return unsupported("a piece longer than " + std::to_string(kMaxPiece) + " bytes");
  }
  if (!utf8::valid(piece.text) || piece.text.find('\0') != std::string_view::npos) {
    return corrupt_data("a piece that is not UTF-8 without NUL");
  }
  if (!std::isfinite(piece.score)) return corrupt_data("a score that is no finite number");
  return {};
}

Status read_trainer_spec(std::string_view message, ModelProto& model) {
  for (WireReader reader(message); reader.more();) {
    COLIBRI_ASSIGN(const WireField field, reader.next());
    switch (field.number) {
      case 3:
        COLIBRI_TRY(number(field, "model_type", model.kind));
        break;
      case 24:
        COLIBRI_TRY(number(field, "treat_whitespace_as_suffix", model.whitespace_as_suffix));
        break;
      case 46:
        COLIBRI_TRY(text(field, "bos_piece", model.bos));
        break;
      case 47:
        COLIBRI_TRY(text(field, "eos_piece", model.eos));
        break;
      case 48:
        COLIBRI_TRY(text(field, "pad_piece", model.pad));
        break;
      default:
        break;
    }
  }
  return {};
}

Status read_normalizer_spec(std::string_view message, ModelProto& model) {
  for (WireReader reader(message); reader.more();) {
    COLIBRI_ASSIGN(const WireField field, reader.next());
    switch (field.number) {
      case 2:
        COLIBRI_TRY(text(field, "precompiled_charsmap", model.character_map));
        break;
      case 3:
        COLIBRI_TRY(number(field, "add_dummy_prefix", model.add_dummy_prefix));
        break;
      case 5:
        COLIBRI_TRY(number(field, "escape_whitespaces", model.escape_whitespaces));
        break;
      default:
        break;
    }
  }
  return {};
}

Status read_denormalizer_spec(std::string_view message, ModelProto& model) {
  for (WireReader reader(message); reader.more();) {
    COLIBRI_ASSIGN(const WireField field, reader.next());
    if (field.number == 2) {
      COLIBRI_TRY(text(field, "precompiled_charsmap", model.denormalizer_map));
    }
  }
  return {};
}

Status read_fields(std::string_view file, ModelProto& model) {
  for (WireReader reader(file); reader.more();) {
    COLIBRI_ASSIGN(const WireField field, reader.next());
    if (field.number < 1 || field.number > 5) continue;
    COLIBRI_TRY(expect(field, WireField::kBytes, "a part of the model"));
    switch (field.number) {
      case 1: {
        if (model.pieces.size() == static_cast<size_t>(kMaxIds)) {
          return unsupported("more than " + std::to_string(kMaxIds) + " pieces");
        }
        ModelProto::Piece piece;
        COLIBRI_TRY(
            read_piece(field.bytes, piece).at("piece " + std::to_string(model.pieces.size())));
        model.pieces.push_back(piece);
        break;
      }
      case 2:
        COLIBRI_TRY(read_trainer_spec(field.bytes, model).at("trainer_spec"));
        break;
      case 3:
        COLIBRI_TRY(read_normalizer_spec(field.bytes, model).at("normalizer_spec"));
        break;
      case 4:  // self_test_data
        break;
      default:
        COLIBRI_TRY(read_denormalizer_spec(field.bytes, model).at("denormalizer_spec"));
        break;
    }
  }
  return {};
}

Status check_kind(const ModelProto& model) {
  if (model.kind != ModelProto::Kind::kUnigram && model.kind != ModelProto::Kind::kBpe) {
    const auto kind = static_cast<uint64_t>(model.kind);
    const std::string name = kind == 3 ? "word" : kind == 4 ? "char" : std::to_string(kind);
    return unsupported("trainer_spec: model_type " + name +
                       " is not supported; supported: unigram, bpe");
  }
  if (model.whitespace_as_suffix) {
    return unsupported("trainer_spec: treat_whitespace_as_suffix is not supported");
  }
  if (!model.escape_whitespaces) {
    return unsupported("normalizer_spec: escape_whitespaces: false is not supported");
  }
  if (!model.denormalizer_map.empty()) {
    return unsupported("denormalizer_spec: a character map is not supported");
  }
  return {};
}

Status check_pieces(const ModelProto& model) {
  std::unordered_set<std::string_view> seen;
  size_t unknown = 0;
  size_t bytes = 0;
  for (const ModelProto::Piece& piece : model.pieces) {
    if (!seen.insert(piece.text).second) {
      return corrupt_data("the piece " + utf8::printable(piece.text) + " stands there twice");
    }
    unknown += piece.type == TokenType::kUnknown;
    bytes += piece.type == TokenType::kByte;
    if (piece.type == TokenType::kByte && !byte_of(piece.text)) {
      return corrupt_data("a byte piece must be <0x00> to <0xFF>, not " +
                          utf8::printable(piece.text));
    }
  }
  if (unknown != 1)
    return corrupt_data("expected one unknown piece, not " + std::to_string(unknown));
  if (bytes != 0 && bytes != 256) {
    return corrupt_data("expected 256 byte pieces or none, not " + std::to_string(bytes));
  }
  return {};
}

}  // namespace

Result<ModelProto> read_model_proto(std::string_view file) {
  if (file.size() > (size_t{1} << 30)) return unsupported("larger than 1 GiB");
  ModelProto model;
  COLIBRI_TRY(read_fields(file, model));
  COLIBRI_TRY(check_kind(model));
  COLIBRI_TRY(check_pieces(model));
  COLIBRI_TRY(check_character_map(model.character_map).at("normalizer_spec"));
  return model;
}

}  // namespace colibri::tokenizers
