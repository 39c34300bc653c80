// SPDX-License-Identifier: Apache-2.0
// Fields of a protocol buffer message, one after another.
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri::tokenizers {

struct WireField {
  enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  uint32_t number = 0;
  uint32_t type = 0;
  uint64_t value = 0;      // kVarint; the bits of kFixed32 and kFixed64
  std::string_view bytes;  // kBytes

  float as_float() const {
    const auto bits = static_cast<uint32_t>(value);
    float number_;
    std::memcpy(&number_, &bits, sizeof(number_));
    return number_;
  }
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : left_(message) {}
  bool more() const { return !left_.empty(); }
  // COLIBRI_CORRUPT_DATA if the message is cut short or has groups.
  Result<WireField> next();

 private:
  Result<uint64_t> varint();
  Result<std::string_view> take(uint64_t bytes);

  std::string_view left_;
};

}  // namespace colibri::tokenizers
