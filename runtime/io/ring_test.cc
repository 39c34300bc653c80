// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/ring.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <map>

#include "runtime/base/file.h"
#include "runtime/base/memory.h"

namespace colibri::io {
namespace {

constexpr uint64_t kBlock = 8192;
constexpr uint64_t kBlocks = 20;

class RingTest : public testing::Test {
 protected:
  RingTest() {
    std::string content(kBlocks * kBlock, '\0');
    for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i / kBlock + i % 7);
    EXPECT_TRUE(write_file(path_, content).ok());
  }
  ~RingTest() override { fault_injection::set_read_fault({}); }

  // Reads all blocks and says how each of them went.
  std::map<uint64_t, Status> read_all(Ring& ring, const File& file, std::byte* to) {
    std::vector<ReadProgress> reads;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      reads.emplace_back(file, i * kBlock, to + i * kBlock, kBlock);
    }
    std::map<uint64_t, Status> ended;
    uint64_t next = 0;
    while (ended.size() < kBlocks) {
      for (; next < kBlocks && ring.under_way() < ring.depth(); ++next) ring.ask(reads[next], next);
      ring.submit();
      const auto answer = ring.answer(true);
      ReadProgress& read = reads[answer->tag];
      const Status status = read.take(answer->result);
      if (!status.ok() || read.done()) {
        ended[answer->tag] = status;
      } else {
        ring.ask(read, answer->tag);
      }
    }
    EXPECT_EQ(ring.under_way(), 0u);
    return ended;
  }

  const TemporaryFolder folder_{"colibri ring test 环"};
  const std::filesystem::path path_ = folder_.path() / "file";
};

TEST_F(RingTest, BringsTheBytesWhateverComesBetween) {
  const auto ring = Ring::create(4);
  if (!ring.ok()) GTEST_SKIP() << ring.status().text();
  const auto file = File::open(path_);
  std::vector<const File*> files = {&*file};
  const auto direct = file->open_direct();
  if (direct.ok()) files.push_back(&*direct);
  const std::string want = *read_file(path_, kBlocks * kBlock);
  int count = 0;
  const fault_injection::ReadFault faults[] = {
      {},
      [](const std::filesystem::path&, uint64_t, uint64_t n) {  // half of it
        return static_cast<int64_t>(n > 4096 ? 4096 : n);
      },
      [&count](const std::filesystem::path&, uint64_t, uint64_t n) {
        return ++count % 2 == 0 ? static_cast<int64_t>(n) : -EAGAIN;
      }};
  for (const File* each : files) {
    for (const auto& fault : faults) {
      fault_injection::set_read_fault(fault);
      const auto memory = Memory::allocate(kBlocks * kBlock, "a test");
      for (const auto& [tag, status] : read_all(**ring, *each, memory->data())) {
        EXPECT_TRUE(status.ok()) << tag << ": " << status.text();
      }
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(memory->data()), kBlocks * kBlock), want);
    }
  }
}

TEST_F(RingTest, AnErrorIsThatOfItsRead) {
  const auto ring = Ring::create(8);
  if (!ring.ok()) GTEST_SKIP() << ring.status().text();
  const auto file = File::open(path_);
  std::filesystem::resize_file(path_, 15 * kBlock);
  fault_injection::set_read_fault([](const std::filesystem::path&, uint64_t offset, uint64_t n) {
    return offset == 3 * kBlock ? -EIO : static_cast<int64_t>(n);
  });
  const auto memory = Memory::allocate(kBlocks * kBlock, "a test");
  for (const auto& [tag, status] : read_all(**ring, *file, memory->data())) {
    const std::string want =
        tag == 3    ? path_.string() + ": reading at byte 24576 failed: Input/output error"
        : tag >= 15 ? path_.string() + ": ends at byte " + std::to_string(tag * kBlock) +
                          ", it was cut short while in use"
                    : "";
    EXPECT_EQ(status.text(), want);
  }
}

}  // namespace
}  // namespace colibri::io
