// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/memory.h"

#include <gtest/gtest.h>

namespace colibri {
namespace {

TEST(Memory, IsZeroedAlignedAndMoves) {
  auto memory = Memory::allocate(3u << 20, "a test");
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % kAlignment, 0u);
  EXPECT_EQ(memory->data()[(3u << 20) - 1], std::byte{0});
  Memory other = std::move(*memory);
  EXPECT_EQ(memory->data(), nullptr);
  EXPECT_EQ(other.size(), 3u << 20);
  EXPECT_EQ(Memory::allocate(0, "nothing")->data(), nullptr);
}

TEST(Memory, SaysWhatItHadNoRoomFor) {
  const Status status = Memory::allocate(uint64_t{1} << 62, "the expert arena").status();
  EXPECT_EQ(status.code(), COLIBRI_OUT_OF_MEMORY);
  EXPECT_NE(status.text().find("the expert arena"), std::string::npos);
}

TEST(Memory, HumanBytes) {
  EXPECT_EQ(human_bytes(17), "17 B");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(uint64_t{12} << 30), "12.0 GiB");
}

}  // namespace
}  // namespace colibri
