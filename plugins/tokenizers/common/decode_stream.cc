// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/decode_stream.h"

#include <cstring>

namespace colibri::tokenizers {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the character that begins with this one; 0 = none does.
size_t character_size(uint8_t lead) {
  if (lead < 0x80) return 1;
  return lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

// Whether `byte` may follow the held bytes (Unicode 15, table 3-7). Only the second byte depends on
// the first.
bool continues(const DecodeState& state, uint8_t byte) {
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (state.size == 1) {
    switch (state.bytes[0]) {
      case 0xE0:
        low = 0xA0;
        break;
      case 0xED:
        high = 0x9F;
        break;
      case 0xF0:
        low = 0x90;
        break;
      case 0xF4:
        high = 0x8F;
        break;
      default:
        break;
    }
  }
  return byte >= low && byte <= high;
}

}  // namespace

void TextOut::append(std::string_view more) {
  if (!more.empty() && size <= capacity && more.size() <= capacity - size) {
    std::memcpy(text + size, more.data(), more.size());
  }
  size += more.size();
}

void decode_bytes(DecodeState& state, std::string_view bytes, Broken broken, TextOut& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (state.size > 0 && !continues(state, byte)) decode_end(state, broken, out);
    if (state.size == 0 && character_size(byte) <= 1) {
      out.append(character_size(byte) == 1 ? std::string_view(&c, 1) : kReplacement);
      continue;
    }
    char character[4];
    std::memcpy(character, state.bytes, sizeof(state.bytes));
    character[state.size] = c;
    const size_t size = size_t{state.size} + 1;
    if (size == character_size(static_cast<uint8_t>(character[0]))) {
      out.append({character, size});
      state.size = 0;
    } else {
      state.bytes[state.size++] = byte;
    }
  }
}

void decode_end(DecodeState& state, Broken broken, TextOut& out) {
  const int times = broken == Broken::kBytes ? state.size : state.size > 0;
  for (int i = 0; i < times; ++i) out.append(kReplacement);
  state.size = 0;
}

}  // namespace colibri::tokenizers
