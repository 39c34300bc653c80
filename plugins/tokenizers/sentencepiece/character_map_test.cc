// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/sentencepiece/character_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "plugins/tokenizers/sentencepiece/model_proto.h"

namespace colibri::tokenizers {
namespace {

// Size of the trie, its units, the texts.
std::string map_of(const std::vector<uint32_t>& units, std::string_view texts) {
  const auto size = static_cast<uint32_t>(units.size() * 4);
  std::string bytes(reinterpret_cast<const char*>(&size), 4);
  bytes.append(reinterpret_cast<const char*>(units.data()), size);
  return bytes.append(texts);
}

// "A" becomes the text at `value`: root, its child 'A' with a leaf, the leaf.
std::vector<uint32_t> one_character(uint32_t value) {
  std::vector<uint32_t> units(512);
  units[0] = 256u << 10;                             // children from 256 on
  units[256 + 'A'] = 'A' | (1u << 8) | (65u << 10);  // a leaf; its base is 256 + 'A' ^ 65 = 256
  units[256] = 0x80000000u | value;
  return units;
}

bool sound(const std::string& map) {
  return check_character_map(map).ok();
}

TEST(CharacterMap, SoundOnesPass) {
  EXPECT_TRUE(sound(""));
  EXPECT_TRUE(sound(map_of(one_character(0), std::string("a\0", 2))));
}

TEST(CharacterMap, WhatWouldLeaveTheMapIsRefused) {
  const std::string texts("a\0", 2);
  EXPECT_FALSE(sound("abc"));
  EXPECT_FALSE(sound(map_of({}, texts)));
  EXPECT_FALSE(sound(map_of(one_character(2), texts)));  // the text is not there
  EXPECT_FALSE(sound(map_of(one_character(0), "a")));    // the text has no end
  EXPECT_FALSE(sound(map_of(one_character(0), "")));
  EXPECT_FALSE(sound(map_of(one_character(0), std::string("\xFF\0", 2))));  // not UTF-8
  std::vector<uint32_t> far = one_character(0);
  far[0] = 512u << 10;
  EXPECT_FALSE(sound(map_of(far, texts)));
  far[0] = 0x1FFFFFu << 10;
  EXPECT_FALSE(sound(map_of(far, texts)));
  std::string size = map_of(one_character(0), texts);
  size[0] = 2;
  EXPECT_FALSE(sound(size));
  EXPECT_FALSE(sound(map_of(std::vector<uint32_t>(100), texts)));  // too short for all bytes
}

// The map that real models have, and what a few changed bytes make of it: never a crash.
TEST(CharacterMap, TheMapOfNfkc) {
  std::ifstream file("tests/golden/tokenizers/sp_unigram_nfkc/tokenizer.model", std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::string model = bytes.str();
  const auto read = read_model_proto(model);
  ASSERT_TRUE(read.ok()) << read.status().text();
  ASSERT_GT(read->character_map.size(), 100000u);
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 30; ++round) {
    std::string map(read->character_map);
    for (int i = 0; i < 50; ++i) map[random() % map.size()] = static_cast<char>(random());
    refused += !sound(map);
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace colibri::tokenizers
