// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/post_processor.h"

#include <optional>
#include <string>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr int kMaxDepth = 8;

// {"A": {"id": "A", "ids": [1], "tokens": ["A"]}}: the ids of one name.
Result<std::vector<int32_t>> special_ids(const Value& specials, std::string_view name,
                                         int32_t limit) {
  simdjson::dom::object object;
  if (specials.element().get(object) != simdjson::SUCCESS) return specials.expected("an object");
  simdjson::dom::element element;
  if (object[name].get(element) != simdjson::SUCCESS) {
    return specials.corrupt(utf8::printable(name) + " of the template is missing");
  }
  const Value value(element, specials.path() + "." + utf8::printable(name));
  COLIBRI_ASSIGN(const Fields fields, value.fields({"id", "ids", "tokens"}));
  COLIBRI_ASSIGN(const Value list, fields.required("ids"));
  COLIBRI_ASSIGN(const std::vector<Value> values, list.array());
  std::vector<int32_t> ids;
  for (const Value& id : values) {
    COLIBRI_ASSIGN(const int32_t number, id.integer(limit));
    ids.push_back(number);
  }
  return ids;
}

// {"Sequence": {"id": "A", "type_id": 0}} or {"SpecialToken": {"id": "<s>", "type_id": 0}}
Result<Template::Part> read_part(const Value& value, const Value& specials, int32_t limit) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"Sequence", "SpecialToken"}));
  const std::optional<Value> sequence = fields.find("Sequence");
  const std::optional<Value> special = fields.find("SpecialToken");
  if (sequence.has_value() == special.has_value()) {
    return value.expected("one of Sequence and SpecialToken");
  }
  const Value& piece = sequence ? *sequence : *special;
  COLIBRI_ASSIGN(const Fields members, piece.fields({"id", "type_id"}));
  COLIBRI_ASSIGN(const Value id, members.required("id"));
  COLIBRI_ASSIGN(const std::string_view name, id.string());
  if (special) {
    COLIBRI_ASSIGN(std::vector<int32_t> ids, special_ids(specials, name, limit));
    return Template::Part{false, std::move(ids)};
  }
  if (name != "A") return id.expected("\"A\": a single text has no other sequence");
  return Template::Part{true, {}};
}

Result<Template> read_template(const Value& value, int32_t limit) {
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "single", "pair", "special_tokens"}));
  COLIBRI_ASSIGN(const Value single, fields.required("single"));
  COLIBRI_ASSIGN(const std::vector<Value> pieces, single.array());
  COLIBRI_ASSIGN(const Value specials, fields.required("special_tokens"));
  Template result;
  result.parts.clear();
  for (const Value& piece : pieces) {
    COLIBRI_ASSIGN(Template::Part part, read_part(piece, specials, limit));
    result.parts.push_back(std::move(part));
  }
  return result;
}

Status read(const Value& value, int32_t limit, int depth, std::optional<Template>& found) {
  COLIBRI_ASSIGN(const std::string_view type, value.type());
  if (type == "ByteLevel") {  // moves offsets only
    return value.fields({"type", "add_prefix_space", "trim_offsets", "use_regex"}).status();
  }
  if (type == "TemplateProcessing") {
    if (found) return value.refused("a second TemplateProcessing is not supported");
    COLIBRI_ASSIGN(found, read_template(value, limit));
    return {};
  }
  if (type != "Sequence") {
    return value.refused("type " + utf8::printable(type) +
                         " is not supported; supported: Sequence, ByteLevel, TemplateProcessing");
  }
  if (depth == kMaxDepth) return value.expected("at most 8 levels of Sequence");
  COLIBRI_ASSIGN(const Fields fields, value.fields({"type", "processors"}));
  COLIBRI_ASSIGN(const Value list, fields.required("processors"));
  COLIBRI_ASSIGN(const std::vector<Value> values, list.array());
  for (const Value& part : values) COLIBRI_TRY(read(part, limit, depth + 1, found));
  return {};
}

}  // namespace

void Template::apply(bool specials, size_t from, std::vector<int32_t>& ids) const {
  const std::vector<int32_t> text(ids.begin() + static_cast<std::ptrdiff_t>(from), ids.end());
  ids.resize(from);
  for (const Part& part : parts) {
    const std::vector<int32_t>& what = part.text ? text : part.ids;
    if (part.text || specials) ids.insert(ids.end(), what.begin(), what.end());
  }
}

Result<Template> read_post_processor(const Value& value, int32_t ids) {
  std::optional<Template> found;
  COLIBRI_TRY(read(value, ids, 0, found));
  return found.value_or(Template());
}

}  // namespace colibri::tokenizers
