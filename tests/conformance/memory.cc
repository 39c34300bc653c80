// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "plugins/cpu_common/layouts.h"
#include "runtime/base/small_floats.h"

namespace colibri::conformance {
namespace {

constexpr uint8_t kFill = 0xA5;
constexpr uint8_t kGuardFill = 0x5A;

// Gives the number at `at` the usual bits of NaN if it is one.
void unify_f32(uint8_t* at) {
  uint32_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) bits = 0x7FC00000u;
  std::memcpy(at, &bits, sizeof(bits));
}
void unify_f16(uint8_t* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  if ((bits & 0x7FFF) > 0x7C00) bits = 0x7E00;
  std::memcpy(at, &bits, sizeof(bits));
}

// The bytes from `at` on as a number of four bytes, for messages.
std::string number_text(const std::vector<uint8_t>& bytes, size_t at) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes.data() + at, std::min(sizeof(bits), bytes.size() - at));
  float number;
  std::memcpy(&number, &bits, sizeof(number));
  char text[64];
  std::snprintf(text, sizeof(text), "%08x (%.9g as f32)", bits, static_cast<double>(number));
  return text;
}

// Adds the numbers of a q8_32 row; a block whose sums are not those of its q is NaN.
void add_prepared(const cpu::PreparedRow& row, int64_t cols, std::vector<float>& numbers) {
  for (int64_t i = 0; i < cols; ++i) {
    float scale;
    int16_t said[2];
    std::memcpy(&scale, row.scale + i / 32, sizeof(scale));
    std::memcpy(said, row.sum + i / 32 * 2, sizeof(said));
    const int8_t* q = row.q + i / 32 * 32;
    const bool fits =
        std::accumulate(q, q + 16, 0) == said[0] && std::accumulate(q + 16, q + 32, 0) == said[1];
    numbers.push_back(fits ? scale * row.q[i] : std::numeric_limits<float>::quiet_NaN());
  }
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
    : Output(std::move(output_name),
             rows.tensor().dtype == COLIBRI_CODEC_F32 ? COLIBRI_CODEC_F32 : COLIBRI_CODEC_U8,
             rows.memory()) {
  if (rows.tensor().dtype != COLIBRI_CODEC_Q8_32) return;
  const int64_t cols = rows.tensor().shape[1];
  step = 1.0f / 127;
  for (int64_t row = 0; row < rows.tensor().shape[0]; ++row) {
    uint8_t* prepared = bytes.data() + row * rows.tensor().stride[0];
    for (int64_t block = 0; block < cols / 32; ++block) unify_f32(prepared + cols + block * 4);
    add_prepared(cpu::prepared_row(prepared, cols), cols, numbers);
  }
}

Output::Output(std::string output_name, uint32_t dtype, const Memory& memory)
    : name(std::move(output_name)),
      bytes(memory.data(), memory.data() + memory.size()),
      guards_intact(memory.guards_intact()) {
  if (dtype == COLIBRI_CODEC_F32) {
    for (size_t at = 0; at + 4 <= bytes.size(); at += 4) unify_f32(&bytes[at]);
    numbers.resize(bytes.size() / 4);
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * 4);
  } else if (dtype == COLIBRI_CODEC_F16) {
    step = 0x1p-10f;
    for (size_t at = 0; at + 2 <= bytes.size(); at += 2) {
      unify_f16(&bytes[at]);
      uint16_t bits;
      std::memcpy(&bits, &bytes[at], sizeof(bits));
      numbers.push_back(f32_from_f16(bits));
    }
  }
}

std::string difference(const Output& want, const Output& got) {
  if (!got.guards_intact) return got.name + ": a write outside of the tensor";
  if (want.bytes == got.bytes) return "";
  if (want.bytes.size() != got.bytes.size()) return got.name + ": another size";
  const auto first = std::mismatch(want.bytes.begin(), want.bytes.end(), got.bytes.begin()).first;
  const size_t at = static_cast<size_t>(first - want.bytes.begin()) / 4 * 4;
  return want.name + " differs at byte " + std::to_string(at) + ": expected " +
         number_text(want.bytes, at) + ", got " + number_text(got.bytes, at);
}

std::string distance(const Output& want, const Output& got, float magnitude) {
  if (want.bytes.size() != got.bytes.size() || !got.guards_intact || want.numbers.empty())
    return difference(want, got);
  float largest = magnitude;
  for (const float number : want.numbers) {
    if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
  }
  size_t neighbours = want.numbers.size() / 50 + 1;  // how many there may be
  for (size_t i = 0; i < want.numbers.size(); ++i) {
    const float a = want.numbers[i];
    const float b = got.numbers[i];
    // In another order infinite terms of both signs may meet, or not.
    const bool equal = a == b || (!std::isfinite(a) && !std::isfinite(b));
    if (equal || std::fabs(a - b) <= 1e-5f * largest) continue;
    if (std::fabs(a - b) <= (want.step + 1e-5f) * largest && neighbours-- > 0) continue;
    return want.name + " at number " + std::to_string(i) + ": expected about " + std::to_string(a) +
           ", got " + std::to_string(b);
  }
  return "";
}

}  // namespace colibri::conformance
