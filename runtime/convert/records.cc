// SPDX-License-Identifier: Apache-2.0
#include "runtime/convert/records.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/base/container.h"
#include "runtime/engine/tokenizer.h"

namespace colibri::convert {
namespace {

// Value types of GGUF.
enum : uint32_t { kBool = 7, kString = 8, kArray = 9, kInt64 = 11, kFloat64 = 12 };

// What chat templates read, besides what tokenizers do.
constexpr const char* kChatResources[] = {"chat_template.jinja", "special_tokens_map.json"};

std::optional<uint32_t> type_of(uint32_t kind) {
  switch (kind) {
    case COLIBRI_VALUE_BOOL:
      return kBool;
    case COLIBRI_VALUE_INT:
      return kInt64;
    case COLIBRI_VALUE_FLOAT:
      return kFloat64;
    case COLIBRI_VALUE_STRING:
      return kString;
    default:
      return std::nullopt;
  }
}

void write_value(RecordWriter* to, uint32_t type, const colibri_value& value) {
  switch (type) {
    case kBool: {
      const char flag = value.i != 0 ? 1 : 0;
      return to->append(&flag, 1);
    }
    case kInt64:
      return to->append(&value.i, sizeof(value.i));
    case kFloat64: {
      const double number =
          value.kind == COLIBRI_VALUE_INT ? static_cast<double>(value.i) : value.f;
      return to->append(&number, sizeof(number));
    }
    default:
      return to->string(from_c(value.s));
  }
}

// The one type that holds all elements; integers among floats become floats.
std::optional<uint32_t> list_type(const model::ModelSource& source, std::string_view key,
                                  uint64_t count) {
  uint32_t type = kInt64;
  for (uint64_t i = 0; i < count; ++i) {
    const auto element = source.metadata(key, i);
    const auto own = element.ok() ? type_of(element->kind) : std::nullopt;
    if (!own) return std::nullopt;
    const bool numbers = (type == kInt64 || type == kFloat64) && (own == kInt64 || own == kFloat64);
    if (i == 0) {
      type = *own;
    } else if (numbers) {
      if (own == kFloat64) type = kFloat64;
    } else if (own != type) {
      return std::nullopt;
    }
  }
  return type;
}

bool write_pair(RecordWriter* to, const model::ModelSource& source, std::string_view key) {
  const auto value = source.metadata(key);
  if (!value.ok()) return false;
  if (const auto type = type_of(value->kind)) {
    to->string(key);
    to->u32(*type);
    write_value(to, *type, *value);
    return true;
  }
  if (value->kind != COLIBRI_VALUE_ARRAY) return false;
  const auto type = list_type(source, key, value->n);
  if (!type) return false;
  to->string(key);
  to->u32(kArray);
  to->u32(*type);
  to->u64(value->n);
  for (uint64_t i = 0; i < value->n; ++i) write_value(to, *type, *source.metadata(key, i));
  return true;
}

}  // namespace

std::string metadata_section(const model::ModelSource& source, std::string_view architecture) {
  RecordWriter pairs;
  uint64_t count = 3;
  const std::pair<std::string_view, std::string_view> own[] = {
      {container::kVocabularyKey, source.vocabulary()},
      {container::kArchitectureKey, architecture}};
  for (const auto& [key, text] : own) {
    pairs.string(key);
    pairs.u32(kString);
    pairs.string(text);
  }
  // Architecture documents may ask whether the source had a tensor.
  std::vector<std::string_view> names;
  for (const model::TensorEntry& tensor : source.tensors()) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  pairs.string(container::kTensorsKey);
  pairs.u32(kArray);
  pairs.u32(kString);
  pairs.u64(names.size());
  for (const std::string_view name : names) pairs.string(name);
  for (const std::string_view key : source.metadata_keys()) {
    if (write_pair(&pairs, source, key)) ++count;
  }
  RecordWriter file;
  file.append("GGUF", 4);
  file.u32(3);
  file.u64(0);  // tensors
  file.u64(count);
  file.append(pairs.bytes().data(), pairs.bytes().size());
  return file.bytes();
}

Result<std::string> resource_section(const model::ModelSource& source) {
  std::vector<std::string_view> names(engine::Tokenizer::resources().begin(),
                                      engine::Tokenizer::resources().end());
  names.insert(names.end(), std::begin(kChatResources), std::end(kChatResources));
  RecordWriter records;
  uint32_t count = 0;
  for (const std::string_view name : names) {
    const auto bytes = source.resource(name);
    if (!bytes.ok() && bytes.status().code() != COLIBRI_NOT_FOUND) return bytes.status();
    if (!bytes.ok()) continue;
    records.string(name);
    records.string(*bytes);
    ++count;
  }
  RecordWriter section;
  section.u32(count);
  section.append(records.bytes().data(), records.bytes().size());
  return section.bytes();
}

std::string directory_section(const std::vector<Entry>& entries) {
  RecordWriter section;
  section.u32(static_cast<uint32_t>(entries.size()));
  for (const Entry& entry : entries) {
    section.string(entry.name);
    section.u32(entry.codec);
    section.u32(entry.layout);
    section.u32(static_cast<uint32_t>(entry.shape.size()));
    for (const int64_t extent : entry.shape) section.u64(static_cast<uint64_t>(extent));
    section.u64(entry.offset);
    section.u64(entry.bytes);
    section.u64(entry.checksum);
  }
  return section.bytes();
}

}  // namespace colibri::convert
