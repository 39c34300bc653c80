// SPDX-License-Identifier: Apache-2.0
// The ids of short pieces that came before: words of a text repeat.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace colibri::tokenizers {

// A piece has two places; a new one takes that of the older. Used by one thread at a time.
class PieceCache {
 public:
  static constexpr size_t kMaxPiece = 31;  // bytes
  static constexpr size_t kMaxIds = 7;

  // The first bytes of a piece and its last ones, which may be the same, and its size in the last
  // byte: pieces that differ have different keys.
  using Key = std::array<uint64_t, 4>;
  struct alignas(64) Entry {  // a cache line
    Key key;
    int32_t ids[kMaxIds];
    uint32_t count;
  };

  PieceCache() : entries_(kEntries, Entry{}) {}

  // Of 1 to kMaxPiece bytes.
  static Key key(std::string_view piece) {
    const char* const data = piece.data();
    const size_t n = piece.size();
    const uint64_t size = uint64_t{n} << 56;
    if (n <= 3) {
      return {load<uint8_t>(data) | load<uint8_t>(data + n / 2) << 8 |
                  load<uint8_t>(data + n - 1) << 16,
              0, 0, size};
    }
    if (n <= 8) return {load<uint32_t>(data) | load<uint32_t>(data + n - 4) << 32, 0, 0, size};
    if (n <= 16) return {load<uint64_t>(data), load<uint64_t>(data + n - 8), 0, size};
    return {load<uint64_t>(data), load<uint64_t>(data + 8), load<uint64_t>(data + n - 15),
            load<uint64_t>(data + n - 8) >> 8 | size};
  }
  // The ids of a piece that is there, or nullptr.
  const Entry* find(const Key& key) const {
    const Entry* const pair = &entries_[first_of(key)];
    if (is(pair[0], key)) return &pair[0];
    return is(pair[1], key) ? &pair[1] : nullptr;
  }
  // Of a piece that is not there. Does nothing if there are too many ids.
  void add(const Key& key, const int32_t* ids, size_t count) {
    if (count > kMaxIds) return;
    Entry* const pair = &entries_[first_of(key)];
    pair[1] = pair[0];
    pair[0].key = key;
    std::memcpy(pair[0].ids, ids, count * sizeof(*ids));
    pair[0].count = static_cast<uint32_t>(count);
  }

 private:
  static constexpr size_t kEntries = 1 << 16;  // 4 MiB

  template <typename Number>
  static uint64_t load(const char* from) {
    Number number;
    std::memcpy(&number, from, sizeof(number));
    return number;
  }
  static size_t first_of(const Key& key) {
    uint64_t mixed = (key[0] ^ (key[1] * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    mixed ^= (key[2] ^ (key[3] * 0xC2B2AE3D27D4EB4Fu)) * 0x9FB21C651E98DF25u;
    mixed ^= mixed >> 32;
    return static_cast<size_t>(mixed) % kEntries & ~size_t{1};
  }
  static bool is(const Entry& entry, const Key& key) {  // std::array compares by a call
    return ((entry.key[0] ^ key[0]) | (entry.key[1] ^ key[1]) | (entry.key[2] ^ key[2]) |
            (entry.key[3] ^ key[3])) == 0;
  }

  std::vector<Entry> entries_;
};

}  // namespace colibri::tokenizers
