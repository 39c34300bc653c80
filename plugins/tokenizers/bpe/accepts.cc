// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/bpe/accepts.h"

#include "plugins/tokenizers/bpe/json.h"
#include "runtime/base/utf8.h"

namespace colibri::bpe {
namespace {

// ByteLevel itself, or a Sequence that holds it.
bool has_byte_level(simdjson::dom::element decoder) {
  std::string_view type;
  if (decoder["type"].get(type) != simdjson::SUCCESS) return false;
  if (type == "ByteLevel") return true;
  simdjson::dom::array decoders;
  if (type != "Sequence" || decoder["decoders"].get(decoders) != simdjson::SUCCESS) return false;
  for (const simdjson::dom::element part : decoders) {
    if (has_byte_level(part)) return true;  // as deep as the JSON: bounded by the parser
  }
  return false;
}

}  // namespace

Status check_byte_level_bpe(std::string_view tokenizer_json) {
  simdjson::dom::parser parser;
  COLIBRI_ASSIGN(const Value root, parse_json(parser, tokenizer_json, "tokenizer.json"));
  simdjson::dom::element model;
  if (root.element()["model"].get(model) != simdjson::SUCCESS) {
    return corrupt_data("tokenizer.json has no model");
  }
  std::string_view type = "BPE";  // old files do not say
  simdjson::dom::element merges;
  if (model["type"].get(type) == simdjson::INCORRECT_TYPE || type != "BPE") {
    return unsupported("the model is " + utf8::printable(type) + ", not BPE");
  }
  if (model["merges"].get(merges) != simdjson::SUCCESS) {
    return unsupported("the model has no merges");
  }
  simdjson::dom::element decoder;
  if (root.element()["decoder"].get(decoder) != simdjson::SUCCESS || !has_byte_level(decoder)) {
    return unsupported("BPE, but not byte-level: the decoder is not ByteLevel");
  }
  return {};
}

}  // namespace colibri::bpe
