// SPDX-License-Identifier: Apache-2.0
// The "model" of a tokenizer.json.
#include <optional>
#include <utility>

#include "plugins/tokenizers/common/model.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

// Old files have no "type"; only BPE has merges.
Status check_type(const Value& value) {
  simdjson::dom::object object;
  if (value.element().get(object) != simdjson::SUCCESS) return value.expected("an object");
  simdjson::dom::element element;
  if (object["type"].get(element) == simdjson::NO_SUCH_FIELD) {
    return object["merges"].get(element) == simdjson::SUCCESS
               ? Status()
               : value.expected("a model of type BPE with merges");
  }
  COLIBRI_ASSIGN(const std::string_view type, value.type());
  if (type == "BPE") return {};
  return value.refused("type " + utf8::printable(type) + " is not supported; supported: BPE");
}

Status refuse_what_changes_the_result(const Fields& fields) {
  for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const std::optional<Value> affix = fields.find(key);
    if (!affix) continue;
    COLIBRI_ASSIGN(const std::string_view text, affix->string());
    if (!text.empty()) return affix->refused("only an empty one is supported");
  }
  if (const std::optional<Value> dropout = fields.find("dropout")) {
    simdjson::dom::element value = dropout->element();
    double rate = 1;
    if (value.get(rate) != simdjson::SUCCESS || rate != 0) {
      return dropout->refused("only null is supported; dropout is for training");
    }
  }
  return {};
}

// "left right" or ["left", "right"].
Status add_merge(simdjson::dom::element element, uint32_t rank, const Vocabulary& vocabulary,
                 MergeTable& merges) {
  std::string_view left;
  std::string_view right;
  std::string_view line;
  simdjson::dom::array pair;
  if (element.get(line) == simdjson::SUCCESS) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      return corrupt_data("expected two tokens and one space between them");
    }
    left = line.substr(0, space);
    right = line.substr(space + 1);
  } else if (element.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
             pair.at(0).get(left) != simdjson::SUCCESS ||
             pair.at(1).get(right) != simdjson::SUCCESS) {
    return corrupt_data("expected \"left right\" or [\"left\", \"right\"]");
  }
  return merges.add(left, right, rank, vocabulary);
}

Result<MergeTable> read_merges(const Value& value, const Vocabulary& vocabulary) {
  simdjson::dom::array array;
  if (value.element().get(array) != simdjson::SUCCESS) return value.expected("an array");
  MergeTable merges;
  merges.reserve(array.size());
  size_t index = 0;
  uint32_t rank = 0;
  for (const simdjson::dom::element element : array) {
    std::string_view line;
    const bool comment = element.get(line) == simdjson::SUCCESS && line.starts_with("#version");
    if (!comment) {
      if (const Status status = add_merge(element, rank++, vocabulary, merges); !status.ok()) {
        return status.at(value.path() + "[" + std::to_string(index) + "]");
      }
    }
    ++index;
  }
  return merges;
}

}  // namespace

Result<Model> Model::read(const Value& value) {
  COLIBRI_TRY(check_type(value));
  COLIBRI_ASSIGN(const Fields fields,
                 value.fields({"type", "dropout", "unk_token", "continuing_subword_prefix",
                               "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges",
                               "vocab", "merges"}));
  COLIBRI_TRY(refuse_what_changes_the_result(fields));
  COLIBRI_ASSIGN(const Value vocab, fields.required("vocab"));
  COLIBRI_ASSIGN(Vocabulary vocabulary, Vocabulary::read(vocab));
  ModelOptions options;
  COLIBRI_ASSIGN(options.fuse_unknown, fields.boolean_or("fuse_unk", false));
  COLIBRI_ASSIGN(options.byte_fallback, fields.boolean_or("byte_fallback", false));
  COLIBRI_ASSIGN(options.ignore_merges, fields.boolean_or("ignore_merges", false));
  if (const std::optional<Value> unknown = fields.find("unk_token")) {
    COLIBRI_ASSIGN(options.unknown, unknown->string());
  }
  COLIBRI_ASSIGN(const Value list, fields.required("merges"));
  COLIBRI_ASSIGN(MergeTable merges, read_merges(list, vocabulary));
  return of_merges(std::move(vocabulary), std::move(merges), std::move(options));
}

}  // namespace colibri::tokenizers
