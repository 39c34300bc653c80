// SPDX-License-Identifier: Apache-2.0
// The memory of the made-up device: addresses that nobody can follow, and behind them the bytes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace colibri::device_test {

// Thread-safe. Buffers are handed out by first fit, full of a pattern: what is read before it is
// written is seen.
class DeviceMemory {
 public:
  static constexpr uint64_t kBytes = uint64_t{64} << 20;

  static DeviceMemory& instance();

  // How much of it there is from now on, and what is told of it; 0 = the truth.
  void limit(uint64_t room, uint64_t promised);

  void* allocate(uint64_t bytes);  // null = no room
  // Ends the program if work that uses the buffer is still in a queue.
  void release(void* buffer);
  uint64_t free_bytes();

  // The bytes behind [address, address + bytes), if they lie in one buffer, else null; the buffer's
  // beginning then stands in *buffer.
  uint8_t* find(const void* address, uint64_t bytes, uint64_t* buffer);
  // Whether the address is that of a buffer's beginning.
  bool begins_buffer(const void* address);
  // Work that uses these buffers is put into a queue (+1), or done (-1).
  void use(std::span<const uint64_t> buffers, int change);

 private:
  struct Buffer {
    uint64_t bytes = 0;
    int uses = 0;
  };
  DeviceMemory();

  uint8_t* addresses_;  // reserved, never readable
  uint8_t* bytes_;
  uint64_t room_ = kBytes, promised_ = 0;
  std::map<uint64_t, Buffer> buffers_;  // by offset
  std::mutex mutex_;
};

}  // namespace colibri::device_test
