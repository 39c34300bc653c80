// SPDX-License-Identifier: Apache-2.0
#include "tests/device/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace colibri::device_test {
namespace {

constexpr uint64_t kAlignment = 256;

uint8_t* map(int protection) {
  void* memory = ::mmap(nullptr, DeviceMemory::kBytes, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<uint8_t*>(memory);
}

}  // namespace

DeviceMemory& DeviceMemory::instance() {
  static auto& memory = *new DeviceMemory;
  return memory;
}

DeviceMemory::DeviceMemory() : addresses_(map(PROT_NONE)), bytes_(map(PROT_READ | PROT_WRITE)) {}

void DeviceMemory::limit(uint64_t room, uint64_t promised) {
  const std::lock_guard lock(mutex_);
  room_ = std::min(room, kBytes);
  promised_ = promised;
}

void* DeviceMemory::allocate(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  uint64_t begin = 0;
  for (const auto& [used, buffer] : buffers_) {
    if (begin + bytes <= used) break;
    begin = (used + buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (bytes > room_ || begin > room_ - bytes) return nullptr;
  buffers_[begin] = {bytes, 0};
  std::memset(bytes_ + begin, 0xA5, bytes);
  return addresses_ + begin;
}

void DeviceMemory::release(void* buffer) {
  if (buffer == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto found =
      buffers_.find(static_cast<uint64_t>(static_cast<uint8_t*>(buffer) - addresses_));
  if (found == buffers_.end() || found->second.uses > 0) {
    std::fprintf(stderr, "made_up_device: a buffer is released that %s\n",
                 found == buffers_.end() ? "is none" : "work in a queue still uses");
    std::abort();
  }
  buffers_.erase(found);
}

uint64_t DeviceMemory::free_bytes() {
  const std::lock_guard lock(mutex_);
  if (promised_ > 0) return promised_;
  uint64_t free = room_;
  for (const auto& [begin, buffer] : buffers_) free -= std::min(free, buffer.bytes);
  return free;
}

uint8_t* DeviceMemory::find(const void* address, uint64_t bytes, uint64_t* buffer) {
  const auto at = static_cast<uint64_t>(static_cast<const uint8_t*>(address) - addresses_);
  const std::lock_guard lock(mutex_);
  auto found = buffers_.upper_bound(at);
  if (at >= kBytes || found == buffers_.begin()) return nullptr;
  --found;
  const uint64_t within = at - found->first;
  if (within > found->second.bytes || bytes > found->second.bytes - within) return nullptr;
  *buffer = found->first;
  return bytes_ + at;
}

bool DeviceMemory::begins_buffer(const void* address) {
  const auto at = static_cast<uint64_t>(static_cast<const uint8_t*>(address) - addresses_);
  const std::lock_guard lock(mutex_);
  return buffers_.contains(at);
}

void DeviceMemory::use(std::span<const uint64_t> buffers, int change) {
  const std::lock_guard lock(mutex_);
  for (const uint64_t buffer : buffers) buffers_.at(buffer).uses += change;
}

}  // namespace colibri::device_test
