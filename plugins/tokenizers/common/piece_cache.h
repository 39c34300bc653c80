// SPDX-License-Identifier: Apache-2.0
// The ids of short pieces that came before: words of a text repeat.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace colibri::tokenizers {

// Direct-mapped: a new piece takes the place of an old one. Used by one thread at a time.
class PieceCache {
 public:
  static constexpr size_t kMaxPiece = 31;  // bytes
  static constexpr size_t kMaxIds = 7;

  using Key =
      std::array<uint64_t, 4>;  // the bytes of a piece, zeros, and its size in the last byte
  struct alignas(64) Entry {    // a cache line
    Key key;
    int32_t ids[kMaxIds];
    uint32_t count;
  };

  PieceCache() : entries_(kEntries, Entry{}) {}

  // Of 1 to kMaxPiece bytes.
  static Key key(std::string_view piece) {
    unsigned char bytes[kMaxPiece + 1] = {};
    std::memcpy(bytes, piece.data(), piece.size());
    bytes[kMaxPiece] = static_cast<unsigned char>(piece.size());
    Key key;
    std::memcpy(key.data(), bytes, sizeof(bytes));
    return key;
  }
  // Where the piece is, if holds() says so, or belongs.
  Entry& place(const Key& key) {
    uint64_t mixed = (key[0] ^ (key[1] * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    mixed ^= (key[2] ^ (key[3] * 0xC2B2AE3D27D4EB4Fu)) * 0x9FB21C651E98DF25u;
    mixed ^= mixed >> 32;
    return entries_[static_cast<size_t>(mixed) % kEntries];
  }
  static bool holds(const Entry& entry, const Key& key) {  // std::array compares by a call
    return ((entry.key[0] ^ key[0]) | (entry.key[1] ^ key[1]) | (entry.key[2] ^ key[2]) |
            (entry.key[3] ^ key[3])) == 0;
  }
  // Does nothing if there are too many ids.
  static void fill(Entry& entry, const Key& key, const int32_t* ids, size_t count) {
    if (count > kMaxIds) return;
    entry.key = key;
    std::memcpy(entry.ids, ids, count * sizeof(*ids));
    entry.count = static_cast<uint32_t>(count);
  }

 private:
  static constexpr size_t kEntries = 1 << 15;  // 2 MiB
  std::vector<Entry> entries_;
};

}  // namespace colibri::tokenizers
