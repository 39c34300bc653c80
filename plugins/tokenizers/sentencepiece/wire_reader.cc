// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/sentencepiece/wire_reader.h"

#include <string>

namespace colibri::tokenizers {

Result<uint64_t> WireReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (left_.empty()) return corrupt_data("it ends in the middle of a number");
    const auto byte = static_cast<unsigned char>(left_[0]);
    left_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return corrupt_data("a number of more than 64 bits");
}

Result<std::string_view> WireReader::take(uint64_t bytes) {
  if (bytes > left_.size()) return corrupt_data("it ends in the middle of a field");
  const std::string_view taken = left_.substr(0, bytes);
  left_.remove_prefix(bytes);
  return taken;
}

Result<WireField> WireReader::next() {
  COLIBRI_ASSIGN(const uint64_t tag, varint());
  WireField field;
  field.type = tag & 7;
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return corrupt_data("a field without a number");
  field.number = static_cast<uint32_t>(tag >> 3);
  switch (field.type) {
    case WireField::kVarint: {
      COLIBRI_ASSIGN(field.value, varint());
      return field;
    }
    case WireField::kBytes: {
      COLIBRI_ASSIGN(const uint64_t size, varint());
      COLIBRI_ASSIGN(field.bytes, take(size));
      return field;
    }
    case WireField::kFixed32:
    case WireField::kFixed64: {
      const size_t size = field.type == WireField::kFixed32 ? 4 : 8;
      COLIBRI_ASSIGN(const std::string_view bytes, take(size));
      std::memcpy(&field.value, bytes.data(), size);  // little-endian, as the machine is
      return field;
    }
    default:
      return corrupt_data("a field of the type " + std::to_string(field.type));
  }
}

}  // namespace colibri::tokenizers
