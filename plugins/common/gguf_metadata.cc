// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/gguf_metadata.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/utf8.h"

namespace colibri::gguf {
namespace {

enum ValueType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kList = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// Bytes of a value of a type with a fixed size; 0 for the others.
size_t fixed_size(uint32_t type) {
  switch (type) {
    case kU8:
    case kI8:
    case kBool:
      return 1;
    case kU16:
    case kI16:
      return 2;
    case kU32:
    case kI32:
    case kF32:
      return 4;
    case kU64:
    case kI64:
    case kF64:
      return 8;
    default:
      return 0;
  }
}

// Little-endian, like every machine that Colibri runs on.
template <typename T>
T number_at(std::string_view bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

void set_int(int64_t number, colibri_value* value) {
  value->kind = COLIBRI_VALUE_INT;
  value->i = number;
}

void set_float(double number, colibri_value* value) {
  value->kind = COLIBRI_VALUE_FLOAT;
  value->f = number;
}

// A value that was checked when it was read.
void set_value(std::string_view bytes, uint32_t type, size_t at, colibri_value* value) {
  switch (type) {
    case kU8:
      return set_int(number_at<uint8_t>(bytes, at), value);
    case kI8:
      return set_int(number_at<int8_t>(bytes, at), value);
    case kU16:
      return set_int(number_at<uint16_t>(bytes, at), value);
    case kI16:
      return set_int(number_at<int16_t>(bytes, at), value);
    case kU32:
      return set_int(number_at<uint32_t>(bytes, at), value);
    case kI32:
      return set_int(number_at<int32_t>(bytes, at), value);
    case kI64:
      return set_int(number_at<int64_t>(bytes, at), value);
    case kU64: {
      const uint64_t number = number_at<uint64_t>(bytes, at);
      if (number > INT64_MAX) return set_float(static_cast<double>(number), value);
      return set_int(static_cast<int64_t>(number), value);
    }
    case kF32:
      return set_float(static_cast<double>(number_at<float>(bytes, at)), value);
    case kF64:
      return set_float(number_at<double>(bytes, at), value);
    case kBool:
      value->kind = COLIBRI_VALUE_BOOL;
      value->i = number_at<uint8_t>(bytes, at);
      return;
    default:  // kString
      value->kind = COLIBRI_VALUE_STRING;
      value->s = to_c(bytes.substr(at + 8, number_at<uint64_t>(bytes, at)));
  }
}

Status unknown_type(uint32_t type) {
  return corrupt_data("has the unknown value type " + std::to_string(type));
}

}  // namespace

Status ByteReader::skip(uint64_t n) {
  if (n > left()) {
    ran_out_ = true;
    return corrupt_data("ends at byte " + std::to_string(bytes_.size()) + ", and " +
                        std::to_string(n) + " bytes are wanted at " + std::to_string(at_) +
                        "; it may be cut short");
  }
  at_ += n;
  return {};
}

Result<uint32_t> ByteReader::u32() {
  COLIBRI_TRY(skip(sizeof(uint32_t)));
  return number_at<uint32_t>(bytes_, at_ - sizeof(uint32_t));
}

Result<uint64_t> ByteReader::u64() {
  COLIBRI_TRY(skip(sizeof(uint64_t)));
  return number_at<uint64_t>(bytes_, at_ - sizeof(uint64_t));
}

Result<std::string_view> ByteReader::string() {
  COLIBRI_ASSIGN(const uint64_t size, u64());
  COLIBRI_TRY(skip(size));
  return bytes_.substr(at_ - size, size);
}

Result<Preamble> read_preamble(ByteReader* reader) {
  constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
  const Result<uint32_t> magic = reader->u32();
  if (!magic.ok() || *magic != kMagic) {
    return corrupt_data("does not begin with the letters GGUF");
  }
  Preamble preamble;
  COLIBRI_ASSIGN(preamble.version, reader->u32());
  if (preamble.version != 0 && (preamble.version & 0xffff) == 0) {
    return unsupported("is a big-endian GGUF file; only little-endian ones are read");
  }
  if (preamble.version != 2 && preamble.version != 3) {
    return unsupported("is GGUF version " + std::to_string(preamble.version) +
                       "; versions 2 and 3 are read");
  }
  COLIBRI_ASSIGN(preamble.tensors, reader->u64());
  COLIBRI_ASSIGN(preamble.pairs, reader->u64());
  return preamble;
}

Result<Metadata> Metadata::read(std::string_view bytes, uint64_t pairs, ByteReader* reader) {
  if (pairs > kMostPairs) {
    return corrupt_data("says that it has " + std::to_string(pairs) + " metadata keys; at most " +
                        std::to_string(kMostPairs) + " are read");
  }
  Metadata metadata(bytes);
  for (uint64_t i = 0; i < pairs; ++i) {
    const std::string number = "metadata key " + std::to_string(i);
    Pair pair;
    pair.begin = reader->at();
    const Result<std::string_view> key = reader->string();
    if (!key.ok()) return key.status().at(number);
    pair.key = *key;
    if (pair.key.empty() || !utf8::valid(pair.key)) {
      return corrupt_data(number + ": the key is empty or not UTF-8");
    }
    const std::string place = "metadata " + utf8::printable(pair.key);
    COLIBRI_TRY(metadata.read_value(reader, &pair).at(place));
    pair.end = reader->at();
    if (!metadata.by_key_.emplace(pair.key, i).second) {
      return corrupt_data(place + ": stands twice");
    }
    metadata.pairs_.push_back(std::move(pair));
  }
  return metadata;
}

Result<Metadata> Metadata::read_file(std::string_view bytes) {
  ByteReader reader(bytes);
  COLIBRI_ASSIGN(const Preamble preamble, read_preamble(&reader));
  return read(bytes, preamble.pairs, &reader);
}

Status Metadata::read_value(ByteReader* reader, Pair* pair) const {
  COLIBRI_ASSIGN(pair->type, reader->u32());
  if (pair->type == kList) return read_list(reader, pair);
  pair->value = reader->at();
  if (pair->type == kString) {
    COLIBRI_ASSIGN(const std::string_view text, reader->string());
    return utf8::valid(text) ? Status() : corrupt_data("is a text that is not UTF-8");
  }
  if (fixed_size(pair->type) == 0) return unknown_type(pair->type);
  COLIBRI_TRY(reader->skip(fixed_size(pair->type)));
  if (pair->type == kBool && number_at<uint8_t>(bytes_, pair->value) > 1) {
    return corrupt_data("is a boolean that is neither 0 nor 1");
  }
  return {};
}

Status Metadata::read_list(ByteReader* reader, Pair* pair) const {
  pair->is_list = true;
  COLIBRI_ASSIGN(pair->type, reader->u32());
  COLIBRI_ASSIGN(pair->count, reader->u64());
  pair->value = reader->at();
  if (pair->type == kList) return unsupported("is a list of lists, which is not read");
  if (pair->type != kString) {
    const size_t size = fixed_size(pair->type);
    if (size == 0) return unknown_type(pair->type);
    if (pair->count > UINT64_MAX / size) {
      return corrupt_data("says that it has " + std::to_string(pair->count) + " elements");
    }
    COLIBRI_TRY(reader->skip(pair->count * size));
    const std::string_view elements = bytes_.substr(pair->value, pair->count * size);
    if (pair->type == kBool &&
        std::any_of(elements.begin(), elements.end(), [](char c) { return c != 0 && c != 1; })) {
      return corrupt_data("holds a boolean that is neither 0 nor 1");
    }
    return {};
  }
  // Each string takes 8 bytes at least, so a hostile count reserves no more than the file's size.
  pair->string_at.reserve(std::min<uint64_t>(pair->count, reader->left() / 8));
  for (uint64_t i = 0; i < pair->count; ++i) {
    pair->string_at.push_back(static_cast<uint32_t>(reader->at()));
    if (const Result<std::string_view> element = reader->string(); !element.ok()) {
      return element.status().at("element " + std::to_string(i));
    }
  }
  return {};
}

colibri_status Metadata::find(std::string_view key, uint64_t index, colibri_value* value) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return COLIBRI_NOT_FOUND;
  const Pair& pair = pairs_[found->second];
  const uint32_t struct_size = value->struct_size;
  *value = {};
  value->struct_size = struct_size;
  if (index == COLIBRI_WHOLE) {
    if (pair.is_list) {
      value->kind = COLIBRI_VALUE_ARRAY;
      value->n = pair.count;
    } else {
      set_value(bytes_, pair.type, pair.value, value);
    }
    return COLIBRI_OK;
  }
  if (!pair.is_list || index >= pair.count) return COLIBRI_NOT_FOUND;
  const size_t at =
      pair.type == kString ? pair.string_at[index] : pair.value + index * fixed_size(pair.type);
  set_value(bytes_, pair.type, at, value);
  return COLIBRI_OK;
}

std::string_view Metadata::raw(size_t i) const {
  return bytes_.substr(pairs_[i].begin, pairs_[i].end - pairs_[i].begin);
}

}  // namespace colibri::gguf
