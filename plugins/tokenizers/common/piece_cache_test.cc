// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/piece_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace colibri::tokenizers {
namespace {

TEST(PieceCache, PiecesThatDifferHaveDifferentKeys) {
  std::set<PieceCache::Key> keys;
  size_t pieces = 0;
  for (size_t size = 1; size <= PieceCache::kMaxPiece; ++size) {
    const std::string piece(size, '\0');
    keys.insert(PieceCache::key(piece));
    ++pieces;
    for (size_t at = 0; at < size; ++at) {
      for (const char c : {'\x01', '\x80', '\xff'}) {
        std::string other = piece;
        other[at] = c;
        keys.insert(PieceCache::key(other));
        ++pieces;
      }
    }
  }
  EXPECT_EQ(keys.size(), pieces);
}

TEST(PieceCache, HoldsIdsUntilOthersTakeTheirPlace) {
  PieceCache cache;
  const auto key = PieceCache::key("piece");
  EXPECT_EQ(cache.find(key), nullptr);
  const int32_t ids[] = {3, 5};
  cache.add(key, ids, 2);
  const auto another = PieceCache::key("pieces");
  EXPECT_EQ(cache.find(another), nullptr);
  ASSERT_NE(cache.find(key), nullptr);
  EXPECT_EQ(cache.find(key)->count, 2u);
  EXPECT_EQ(cache.find(key)->ids[1], 5);
}

TEST(PieceCache, KeepsNoPieceOfManyIds) {
  PieceCache cache;
  const std::vector<int32_t> ids(PieceCache::kMaxIds + 1);
  cache.add(PieceCache::key("piece"), ids.data(), ids.size());
  EXPECT_EQ(cache.find(PieceCache::key("piece")), nullptr);
}

}  // namespace
}  // namespace colibri::tokenizers
