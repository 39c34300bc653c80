// SPDX-License-Identifier: Apache-2.0
// Memory for tensors: aligned as the contract promises, full of a pattern, and with guards that
// show a write beyond it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "colibri/kernels.h"

namespace colibri::conformance {

class Memory {
 public:
  explicit Memory(
      size_t bytes);  // 64-byte aligned, every byte 0xA5: floats that are read by mistake are seen
  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool guards_intact() const;

 private:
  static constexpr size_t kGuard = 256;
  struct Free {
    void operator()(void* p) const;
  };
  std::unique_ptr<uint8_t, Free> block_;
  uint8_t* data_;
  size_t size_;
};

// A view of a row-major matrix. Stride 0 = rows without gaps.
colibri_tensor matrix(uint32_t dtype, int64_t rows, int64_t cols, void* buffer, int64_t stride = 0);

// Rows of an operator's input or output in their own memory; `gap` bytes stand between rows.
class Rows {
 public:
  Rows(uint32_t dtype, int64_t rows, int64_t cols, int64_t gap = 0);
  Rows(const std::vector<float>& numbers, int64_t cols, int64_t gap = 0);  // f32
  const colibri_tensor& tensor() const { return tensor_; }
  const Memory& memory() const { return memory_; }

 private:
  Memory memory_;
  colibri_tensor tensor_;
};

// What a call has written, to be compared: all of the memory, so gaps and padding count too. Every NaN has the same bits.
struct Output {
  std::string name;
  std::vector<uint8_t> bytes;
  bool guards_intact = true;
  std::vector<float> numbers;  // what the bytes stand for; empty where only bytes can be compared
  float step = 0;  // of numbers that were rounded: between neighbours, by the largest of them

  Output(std::string output_name, const Rows& rows);
  Output(std::string output_name, uint32_t dtype, const Memory& memory);  // numbers of one type
};

// "" if equal, else what differs first.
std::string difference(const Output& want, const Output& got);

// The same for the outputs of a plugin that is not identical: bytes that are no numbers are equal, numbers are not finite where
// those wanted are not, else within 1e-5 of the largest finite number wanted or of `magnitude`. Rounding may then make them neighbours, at most
// two of a hundred.
std::string distance(const Output& want, const Output& got, float magnitude);

}  // namespace colibri::conformance
