// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/metadata.h"

#include <charconv>
#include <utility>

#include "plugins/formats/safetensors/json.h"
#include "runtime/base/utf8.h"

namespace colibri::safetensors {

namespace od = simdjson::ondemand;

// Walks one JSON text and adds its values.
class MetadataReader {
 public:
  MetadataReader(Metadata* metadata, const std::string& name, std::string json)
      : metadata_(*metadata), text_(name, std::move(json)) {}

  Status read(const std::string& prefix) {
    od::object root;
    COLIBRI_TRY(text_.open(&root));
    COLIBRI_TRY(read_object(root, prefix, 1));
    return text_.close();
  }

 private:
  Status check(simdjson::error_code code) {
    return code == simdjson::SUCCESS ? Status() : text_.failed(code, "holds a damaged value");
  }

  Status wrong(const std::string& key, const std::string& what) const {
    return corrupt_data(text_.name() + ": " + utf8::printable(key) + " " + what);
  }

  Status count_value() {
    if (++metadata_.values_ <= Metadata::kMostValues) return {};
    return corrupt_data(text_.name() + ": holds too many values; at most " +
                        std::to_string(Metadata::kMostValues) + " are read");
  }

  Result<Metadata::Entry*> add_entry(std::string key) {
    COLIBRI_TRY(count_value());
    if (key.size() > Metadata::kMostKeyBytes) {
      return wrong(key,
                   "is a key of more than " + std::to_string(Metadata::kMostKeyBytes) + " bytes");
    }
    Metadata::Entry& entry = metadata_.entries_.emplace_back();
    entry.key = std::move(key);
    if (!metadata_.by_key_.emplace(entry.key, metadata_.entries_.size() - 1).second) {
      return wrong(entry.key, "stands twice");
    }
    return &entry;
  }

  Status read_object(od::object object, const std::string& prefix, int depth) {
    for (auto member : object) {
      od::field field;
      COLIBRI_TRY(check(std::move(member).get(field)));
      std::string_view key;
      COLIBRI_TRY(check(field.unescaped_key().get(key)));
      COLIBRI_TRY(read_value(field.value(), prefix + std::string(key), depth));
    }
    return {};
  }

  Status read_value(od::value value, const std::string& key, int depth) {
    if (depth > Metadata::kMostDepth) {
      return wrong(key,
                   "is nested more than " + std::to_string(Metadata::kMostDepth) + " levels deep");
    }
    od::json_type type = od::json_type::null;
    COLIBRI_TRY(check(value.type().get(type)));
    if (type == od::json_type::object) {
      od::object object;
      COLIBRI_TRY(check(value.get_object().get(object)));
      return read_object(object, key + ".", depth + 1);
    }
    COLIBRI_ASSIGN(Metadata::Entry * entry, add_entry(key));
    if (type != od::json_type::array) return read_scalar(value, type, key, &entry->value);
    entry->value.kind = COLIBRI_VALUE_ARRAY;
    od::array array;
    COLIBRI_TRY(check(value.get_array().get(array)));
    for (auto item : array) {
      od::value element;
      // NOLINTNEXTLINE(performance-move-const-arg): get() takes an rvalue only
      COLIBRI_TRY(check(std::move(item).get(element)));
      COLIBRI_TRY(count_value());
      COLIBRI_TRY(check(element.type().get(type)));
      Metadata::Value& added = entry->elements.emplace_back();
      const std::string element_key = key + "." + std::to_string(entry->elements.size() - 1);
      if (type == od::json_type::object || type == od::json_type::array) {
        if (type == od::json_type::array) added.kind = COLIBRI_VALUE_ARRAY;
        COLIBRI_TRY(read_value(element, element_key, depth + 1));
      } else {
        COLIBRI_TRY(read_scalar(element, type, element_key, &added));
      }
    }
    return {};
  }

  Status read_scalar(od::value value, od::json_type type, const std::string& key,
                     Metadata::Value* to) {
    switch (type) {
      case od::json_type::null: {
        bool null = false;
        COLIBRI_TRY(check(value.is_null().get(null)));
        if (!null) return text_.failed(simdjson::N_ATOM_ERROR, "");
        return {};
      }
      case od::json_type::boolean: {
        bool flag = false;
        COLIBRI_TRY(check(value.get_bool().get(flag)));
        to->kind = COLIBRI_VALUE_BOOL;
        to->i = flag ? 1 : 0;
        return {};
      }
      case od::json_type::string: {
        std::string_view text;
        COLIBRI_TRY(check(value.get_string().get(text)));
        to->kind = COLIBRI_VALUE_STRING;
        to->s = text;
        return {};
      }
      default:
        return read_number(value, key, to);
    }
  }

  Status read_number(od::value value, const std::string& key, Metadata::Value* to) {
    od::number number;
    const simdjson::error_code code = value.get_number().get(number);
    if (code != simdjson::SUCCESS) return read_long_integer(code, scalar_token(value), key, to);
    if (number.is_int64()) {
      to->kind = COLIBRI_VALUE_INT;
      to->i = number.get_int64();
    } else {
      to->kind = COLIBRI_VALUE_FLOAT;
      to->f = number.is_uint64() ? static_cast<double>(number.get_uint64()) : number.get_double();
    }
    return {};
  }

  // An integer outside of 64 bits becomes a float, as in readers that have only doubles. It is
  // normal in tokenizer_config.json: "model_max_length": 1000000000000000019884624838656.
  Status read_long_integer(simdjson::error_code code, std::string_view token,
                           const std::string& key, Metadata::Value* to) {
    const std::string_view digits = token.substr(token.starts_with('-') ? 1 : 0);
    if (digits.find_first_not_of("0123456789") != std::string_view::npos || digits.empty() ||
        digits.front() == '0') {
      return text_.failed(code, utf8::printable(key) + " is no number");
    }
    const std::from_chars_result result =
        std::from_chars(token.data(), token.data() + token.size(), to->f);
    if (result.ec != std::errc()) return wrong(key, "is too large a number");
    to->kind = COLIBRI_VALUE_FLOAT;
    return {};
  }

  Metadata& metadata_;
  JsonText text_;
};

Status Metadata::add(const std::string& name, std::string json, const std::string& prefix) {
  return MetadataReader(this, name, std::move(json)).read(prefix);
}

colibri_status Metadata::find(std::string_view key, uint64_t index, colibri_value* value) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return COLIBRI_NOT_FOUND;
  const Entry& entry = entries_[found->second];
  if (index != COLIBRI_WHOLE && index >= entry.elements.size()) return COLIBRI_NOT_FOUND;
  const Value& from = index == COLIBRI_WHOLE ? entry.value : entry.elements[index];
  value->kind = from.kind;
  value->i = from.i;
  value->f = from.f;
  value->s = to_c(from.s);
  value->n = index == COLIBRI_WHOLE ? entry.elements.size() : 0;
  return COLIBRI_OK;
}

}  // namespace colibri::safetensors
