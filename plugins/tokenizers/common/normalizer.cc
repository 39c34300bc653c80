// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/normalizer.h"

#include "plugins/tokenizers/common/replace.h"
#include "plugins/tokenizers/common/string_replacement.h"
#include "plugins/tokenizers/common/unicode.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr int kMaxDepth = 8;

Status read_prepend(const Value& value, Normalizer& normalizer) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "prepend"}));
  COLIBRI_ASSIGN(const Value text, fields.required("prepend"));
  COLIBRI_ASSIGN(const std::string_view what, text.string());
  normalizer.prepend(what);
  return {};
}

Status read_replace(const Value& value, Normalizer& normalizer) {
  COLIBRI_ASSIGN(const StringReplacement replacement, read_string_replacement(value));
  normalizer.replace(replacement.what, replacement.by);
  return {};
}

Status read(const Value& value, int depth, Normalizer& normalizer) {
  COLIBRI_ASSIGN(const std::string_view type, value.type());
  if (type == "NFC") {
    normalizer.nfc();
    return value.fields({"type"}).status();
  }
  if (type == "Prepend") return read_prepend(value, normalizer);
  if (type == "Replace") return read_replace(value, normalizer);
  if (type != "Sequence") {
    return value.refused("type " + utf8::printable(type) +
                         " is not supported; supported: Sequence, NFC, Prepend, Replace");
  }
  if (depth == kMaxDepth) return value.expected("at most 8 levels of Sequence");
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "normalizers"}));
  COLIBRI_ASSIGN(const Value list, fields.required("normalizers"));
  COLIBRI_ASSIGN(const std::vector<Value> values, list.array());
  for (const Value& part : values) COLIBRI_TRY(read(part, depth + 1, normalizer));
  return {};
}

}  // namespace

void Normalizer::nfc() {
  steps_.emplace_back([](std::string_view text) { return tokenizers::nfc(text); });
}

void Normalizer::prepend(std::string_view what) {
  steps_.emplace_back([what = std::string(what)](std::string_view text) {
    return text.empty() ? std::string() : what + std::string(text);
  });
}

void Normalizer::replace(std::string_view what, std::string_view by) {
  steps_.emplace_back([what = std::string(what), by = std::string(by)](std::string_view text) {
    return replaced(text, what, by);
  });
}

std::string Normalizer::operator()(std::string_view text) const {
  std::string result(text);
  for (const Step& step : steps_) result = step(result);
  return result;
}

Status read_normalizer(const Value& value, Normalizer& normalizer) {
  return read(value, 0, normalizer);
}

}  // namespace colibri::tokenizers
