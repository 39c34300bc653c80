// SPDX-License-Identifier: Apache-2.0
// The ids of short pieces that came before: words of a text repeat.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace colibri::tokenizers {

// Direct-mapped: a new piece takes the place of an old one. Used by one thread at a time.
class PieceCache {
 public:
  static constexpr size_t kMaxPiece = 15;  // bytes
  static constexpr size_t kMaxIds = 6;

  struct Entry {
    uint64_t piece[2];  // its bytes, zeros, and the size in the last byte
    int32_t ids[kMaxIds];
    uint32_t count;
  };

  PieceCache() : entries_(kEntries, Entry{{0, 0}, {}, 0}) {}

  // The place of a piece of 1 to kMaxPiece bytes. It holds the piece if holds() says so.
  Entry& place(std::string_view piece, uint64_t (&key)[2]) {
    unsigned char bytes[16] = {};
    std::memcpy(bytes, piece.data(), piece.size());
    bytes[15] = static_cast<unsigned char>(piece.size());
    std::memcpy(key, bytes, sizeof(bytes));
    uint64_t mixed = (key[0] ^ (key[1] * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    mixed ^= mixed >> 32;
    return entries_[static_cast<size_t>(mixed) % kEntries];
  }
  static bool holds(const Entry& entry, const uint64_t (&key)[2]) {
    return entry.piece[0] == key[0] && entry.piece[1] == key[1];
  }
  // Does nothing if there are too many ids.
  static void fill(Entry& entry, const uint64_t (&key)[2], const int32_t* ids, size_t count) {
    if (count > kMaxIds) return;
    std::memcpy(entry.piece, key, sizeof(key));
    std::memcpy(entry.ids, ids, count * sizeof(*ids));
    entry.count = static_cast<uint32_t>(count);
  }

 private:
  static constexpr size_t kEntries = 1 << 14;
  std::vector<Entry> entries_;
};

}  // namespace colibri::tokenizers
