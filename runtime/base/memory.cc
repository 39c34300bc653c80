// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/memory.h"

#include <sys/mman.h>

#include <cstdio>
#include <utility>

namespace colibri {

Result<Memory> Memory::allocate(uint64_t bytes, const std::string& what) {
  Memory memory;
  if (bytes == 0) return memory;
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return out_of_memory("no memory for " + what + ": " + std::to_string(bytes) + " bytes (" +
                         human_bytes(bytes) + ")");
  }
  constexpr uint64_t kHugePage = 2u << 20;
  // A wish: where huge pages are off, small ones serve.
  if (bytes >= kHugePage) ::madvise(data, bytes, MADV_HUGEPAGE);
  memory.data_ = static_cast<std::byte*>(data);
  memory.size_ = bytes;
  return memory;
}

void Memory::give_back(std::byte* pages, uint64_t bytes) {
  (void)::madvise(pages, bytes, MADV_DONTNEED);
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Memory::~Memory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

std::string human_bytes(uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  auto value = static_cast<double>(bytes);
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text),
                unit == 0    ? "%.0f %s"
                : value < 10 ? "%.2f %s"
                             : "%.1f %s",
                value, units[unit]);
  return text;
}

}  // namespace colibri
