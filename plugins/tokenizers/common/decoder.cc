// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/decoder.h"

#include <optional>

#include "plugins/tokenizers/common/byte_level.h"
#include "plugins/tokenizers/common/metaspace.h"
#include "plugins/tokenizers/common/replace.h"
#include "plugins/tokenizers/common/string_replacement.h"
#include "plugins/tokenizers/common/token_type.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr int kMaxDepth = 8;

// Reads the decoders in order and keeps track of what they have before them.
class Reader {
 public:
  Status read(const Value& value, int depth) {
    COLIBRI_ASSIGN(const std::string_view type, value.type());
    if (type == "Sequence") return read_sequence(value, depth);
    if (decoder_.byte_level) return value.refused("nothing is supported behind ByteLevel");
    if (type == "ByteLevel") return read_byte_level(value);
    if (type == "Replace") return read_replace(value);
    if (type == "Metaspace") return read_metaspace(value);
    if (type == "ByteFallback") return read_byte_fallback(value);
    if (type == "Fuse") {
      fused_ = true;
      any_ = true;
      return value.fields({"type"}).status();
    }
    if (type == "Strip") return read_strip(value);
    return value.refused("type " + utf8::printable(type) +
                         " is not supported; supported: Sequence, ByteLevel, Metaspace, Replace, "
                         "ByteFallback, Fuse, Strip");
  }

  Result<Decoder> take(const Value& value) {
    if (!any_) return value.refused("an empty Sequence is not supported");
    return std::move(decoder_);
  }

 private:
  Status read_sequence(const Value& value, int depth) {
    if (depth == kMaxDepth) return value.expected("at most 8 levels of Sequence");
    COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "decoders"}));
    COLIBRI_ASSIGN(const Value list, fields.required("decoders"));
    COLIBRI_ASSIGN(const std::vector<Value> values, list.array());
    for (const Value& part : values) COLIBRI_TRY(read(part, depth + 1));
    return {};
  }

  Status read_byte_level(const Value& value) {
    if (any_) return value.refused("ByteLevel is supported only as the first decoder");
    any_ = true;
    decoder_.byte_level = true;  // its options concern encoding
    return value.fields({"type", "add_prefix_space", "trim_offsets", "use_regex"}).status();
  }

  // Bytes and fused tokens are no longer single tokens.
  Status check_single_tokens(const Value& value) {
    any_ = true;
    if (!decoder_.byte_fallback && !fused_) return {};
    return value.refused("is supported only before ByteFallback and Fuse");
  }

  Status read_replace(const Value& value) {
    COLIBRI_TRY(check_single_tokens(value));
    COLIBRI_ASSIGN(const StringReplacement replacement, read_string_replacement(value));
    decoder_.replacements.emplace_back(replacement.what, replacement.by);
    return {};
  }

  Status read_metaspace(const Value& value) {
    if (any_) return value.refused("Metaspace is supported only as the first decoder");
    any_ = true;
    COLIBRI_ASSIGN(const Metaspace metaspace, tokenizers::read_metaspace(value));
    decoder_.replacements.emplace_back(metaspace.replacement, " ");
    if (metaspace.prepend != Metaspace::Prepend::kNever) {
      decoder_.first_loses = metaspace.replacement;
      decoder_.rules.first_differs = true;
    }
    return {};
  }

  Status read_byte_fallback(const Value& value) {
    COLIBRI_TRY(check_single_tokens(value));
    decoder_.byte_fallback = true;
    return value.fields({"type"}).status();
  }

  Status read_strip(const Value& value) {
    COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "content", "start", "stop"}));
    COLIBRI_ASSIGN(const Value content, fields.required("content"));
    COLIBRI_ASSIGN(const std::string_view what, content.string());
    COLIBRI_ASSIGN(const Value start, fields.required("start"));
    COLIBRI_ASSIGN(const int32_t count, start.integer(256));
    COLIBRI_ASSIGN(const Value stop, fields.required("stop"));
    COLIBRI_ASSIGN(const int32_t at_end, stop.integer(256));
    if (!fused_) return value.refused("Strip is supported only behind Fuse");
    if (at_end != 0) return stop.refused("only 0 is supported: a stream does not know its end");
    if (what.size() != 1) return content.refused("only an ASCII character is supported");
    if (decoder_.rules.strip != 0) return value.refused("a second Strip is not supported");
    decoder_.rules.strip = static_cast<uint8_t>(count);
    decoder_.rules.stripped = what[0];
    return {};
  }

  Decoder decoder_;
  bool any_ = false;
  bool fused_ = false;
};

}  // namespace

void Decoder::set(int32_t id, std::string_view content, DecodeTable& table) const {
  if (byte_level) {
    table.set(id, bytes_of_token(content));
    return;
  }
  std::string text(content);
  std::string first = first_loses.empty() ? text : replaced(text, first_loses, "");
  for (const auto& [what, by] : replacements) {
    text = replaced(text, what, by);
    first = replaced(first, what, by);
  }
  const std::optional<char> byte = byte_fallback ? byte_of(text) : std::nullopt;
  if (byte) {
    table.set_byte(id, *byte);
    return;
  }
  table.set(id, std::move(text));
  if (rules.first_differs) table.set_first(id, std::move(first));
}

Result<Decoder> read_decoder(const Value& value) {
  Reader reader;
  COLIBRI_TRY(reader.read(value, 0));
  return reader.take(value);
}

}  // namespace colibri::tokenizers
