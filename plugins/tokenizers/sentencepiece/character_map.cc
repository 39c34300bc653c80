// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/sentencepiece/character_map.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr char kBroken[] = "precompiled_charsmap is broken";

// A unit of the trie (Yata, Darts-clone): label and leaf flag, and where its children are.
struct Unit {
  uint32_t bits;

  bool has_leaf() const { return ((bits >> 8) & 1) != 0; }
  uint32_t value() const { return bits & 0x7FFFFFFF; }
  uint32_t label() const { return bits & 0x800000FF; }
  uint32_t offset() const { return (bits >> 10) << ((bits & (1u << 9)) >> 6); }
};

class Trie {
 public:
  Trie(std::string_view bytes, std::string_view texts)
      : units_(bytes.size() / sizeof(uint32_t)), texts_(texts) {
    if (units_.empty()) return;  // memcpy takes no null pointer, not even for no bytes
    std::memcpy(units_.data(), bytes.data(), units_.size() * sizeof(uint32_t));
  }

  // Visits all that a search can visit: every byte may follow every unit.
  bool sound() const {
    if (units_.empty()) return false;
    std::vector<bool> seen(units_.size());
    std::vector<uint32_t> left = {0};
    seen[0] = true;
    while (!left.empty()) {
      const uint32_t at = left.back();
      left.pop_back();
      const Unit unit{units_[at]};
      const uint32_t base = at ^ unit.offset();
      if ((base | 0xFFu) >= units_.size()) return false;
      if (at != 0 && unit.has_leaf() && !sound_value(Unit{units_[base]}.value())) return false;
      for (uint32_t byte = 0; byte < 256; ++byte) {
        const uint32_t child = base ^ byte;
        if (seen[child] || Unit{units_[child]}.label() != byte) continue;
        seen[child] = true;
        left.push_back(child);
      }
    }
    return true;
  }

 private:
  bool sound_value(uint32_t value) const {
    if (value >= texts_.size()) return false;
    const std::string_view text = texts_.substr(value, texts_.find('\0', value) - value);
    return utf8::valid(text);
  }

  std::vector<uint32_t> units_;
  std::string_view texts_;  // each ends with a NUL
};

}  // namespace

Status check_character_map(std::string_view map) {
  if (map.empty()) return {};
  uint32_t size = 0;
  if (map.size() <= sizeof(size)) return corrupt_data(kBroken);
  std::memcpy(&size, map.data(), sizeof(size));
  map.remove_prefix(sizeof(size));
  if (size >= map.size() || size % sizeof(uint32_t) != 0 || map.back() != '\0') {
    return corrupt_data(kBroken);
  }
  const Trie trie(map.substr(0, size), map.substr(size));
  return trie.sound() ? Status() : corrupt_data(kBroken);
}

}  // namespace colibri::tokenizers
