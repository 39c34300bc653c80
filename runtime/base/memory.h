// SPDX-License-Identifier: Apache-2.0
// Big blocks of memory: page-aligned, zeroed, in 2 MiB pages where the system grants them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/status.h"

namespace colibri {

constexpr uint64_t kAlignment =
    64;  // of every tensor, slot, state and scratch: one cache line, one AVX-512 vector
constexpr uint64_t align_up(uint64_t bytes, uint64_t to = kAlignment) {
  return (bytes + to - 1) / to * to;
}

// Owns anonymous memory. Movable; an empty one has data() == nullptr.
class Memory {
 public:
  Memory() = default;
  // bytes = 0 gives an empty one. `what` names the use in the error.
  static Result<Memory> allocate(uint64_t bytes, const std::string& what);

  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  // Gives whole pages of such memory back to the system; they are zeros when they are used again.
  static void give_back(std::byte* pages, uint64_t bytes);

  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

// "1.50 GiB", "12.0 KiB", "17 B": for people.
std::string human_bytes(uint64_t bytes);

}  // namespace colibri
