// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "plugins/cpu_common/layouts.h"

namespace colibri::conformance {
namespace {

constexpr uint8_t kFill = 0xA5;
constexpr uint8_t kGuardFill = 0x5A;

template <typename T>
T read(const std::vector<uint8_t>& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

bool same_f32(uint32_t a, uint32_t b) {
  const auto is_nan = [](uint32_t x) { return (x & 0x7FFFFFFFu) > 0x7F800000u; };
  return a == b || (is_nan(a) && is_nan(b));
}
bool same_f16(uint16_t a, uint16_t b) {
  const auto is_nan = [](uint16_t x) { return (x & 0x7FFF) > 0x7C00; };
  return a == b || (is_nan(a) && is_nan(b));
}

// Whether byte `at` of a prepared row belongs to its scales.
bool is_scale(const Output& output, size_t at) {
  const auto in_row = static_cast<int64_t>(at) % output.stride;
  return in_row >= output.cols && in_row < output.cols + output.cols / 32 * 4;
}

std::string at_place(const Output& want, const Output& got, size_t at) {
  char text[160];
  const auto a = at + 4 <= want.bytes.size() ? read<uint32_t>(want.bytes, at) : want.bytes[at];
  const auto b = at + 4 <= got.bytes.size() ? read<uint32_t>(got.bytes, at) : got.bytes[at];
  float x;
  float y;
  std::memcpy(&x, &a, 4);
  std::memcpy(&y, &b, 4);
  std::snprintf(text, sizeof(text),
                "%s differs at byte %zu: expected %08x (%.9g as f32), got %08x (%.9g)",
                want.name.c_str(), at, a, static_cast<double>(x), b, static_cast<double>(y));
  return text;
}

}  // namespace

void Memory::Free::operator()(void* p) const {
  std::free(p);
}

Memory::Memory(size_t bytes) : size_(bytes) {
  const size_t whole = (bytes + 2 * kGuard + 63) / 64 * 64;
  block_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, whole)));
  std::memset(block_.get(), kGuardFill, whole);
  data_ = block_.get() + kGuard;
  if (bytes > 0) std::memset(data_, kFill, bytes);
}

bool Memory::guards_intact() const {
  const auto intact = [](const uint8_t* p) {
    return std::all_of(p, p + kGuard, [](uint8_t b) { return b == kGuardFill; });
  };
  return intact(block_.get()) && intact(data_ + size_);
}

colibri_tensor matrix(uint32_t dtype, int64_t rows, int64_t cols, void* buffer, int64_t stride) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = dtype;
  tensor.layout = COLIBRI_LAYOUT_ROWS;
  tensor.rank = 2;
  tensor.shape[0] = rows;
  tensor.shape[1] = cols;
  const int64_t row_bytes = dtype == COLIBRI_CODEC_Q8_32 ? (cols / 32 * 40 + 63) / 64 * 64
                            : dtype == COLIBRI_CODEC_I32 ? cols * 4
                                                         : cpu::file_row_bytes(dtype, cols);
  tensor.stride[0] = stride == 0 ? row_bytes : stride;
  tensor.stride[1] = dtype == COLIBRI_CODEC_F32 || dtype == COLIBRI_CODEC_I32 ? 4 : 1;
  tensor.buffer = buffer;
  return tensor;
}

Rows::Rows(uint32_t dtype, int64_t rows, int64_t cols, int64_t gap)
    : memory_(static_cast<size_t>(rows * (matrix(dtype, rows, cols, nullptr).stride[0] + gap))),
      tensor_(matrix(dtype, rows, cols, memory_.data(),
                     matrix(dtype, rows, cols, nullptr).stride[0] + gap)) {}

Rows::Rows(const std::vector<float>& numbers, int64_t cols, int64_t gap)
    : Rows(COLIBRI_CODEC_F32, static_cast<int64_t>(numbers.size()) / cols, cols, gap) {
  for (int64_t row = 0; row < tensor_.shape[0]; ++row) {
    std::memcpy(memory_.data() + row * tensor_.stride[0], numbers.data() + row * cols,
                static_cast<size_t>(cols) * 4);
  }
}

Output::Output(std::string output_name, const Rows& rows)
    : Output(std::move(output_name), rows.tensor().dtype, rows.memory()) {
  cols = rows.tensor().shape[1];
  stride = rows.tensor().stride[0];
}

Output::Output(std::string output_name, uint32_t number_dtype, const Memory& memory)
    : name(std::move(output_name)),
      dtype(number_dtype),
      bytes(memory.data(), memory.data() + memory.size()),
      guards_intact(memory.guards_intact()) {}

std::string difference(const Output& want, const Output& got) {
  if (!got.guards_intact) return got.name + ": a write outside of the tensor";
  if (want.bytes == got.bytes) return "";
  if (want.bytes.size() != got.bytes.size()) return got.name + ": another size";
  const size_t step = want.dtype == COLIBRI_CODEC_F16 ? 2 : want.dtype == COLIBRI_CODEC_U8 ? 1 : 4;
  for (size_t at = 0; at + step <= want.bytes.size(); at += step) {
    if (std::memcmp(&want.bytes[at], &got.bytes[at], step) == 0) continue;
    const bool floats = want.dtype == COLIBRI_CODEC_F32 ||
                        (want.dtype == COLIBRI_CODEC_Q8_32 && is_scale(want, at));
    if (floats && same_f32(read<uint32_t>(want.bytes, at), read<uint32_t>(got.bytes, at))) continue;
    if (step == 2 && same_f16(read<uint16_t>(want.bytes, at), read<uint16_t>(got.bytes, at)))
      continue;
    return at_place(want, got, at);
  }
  return "";
}

}  // namespace colibri::conformance
