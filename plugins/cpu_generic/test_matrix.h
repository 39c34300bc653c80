// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests beside this file: stored weights and rows as doubles, read straight from the
// definition of the codec.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "colibri/kernels.h"
#include "plugins/cpu_generic/kernel_table.h"
#include "tests/conformance/kernel.h"
#include "tests/conformance/kernel_conformance.h"

namespace colibri::cpu_generic {

template <typename T>
T read_number(const uint8_t* from) {
  T number;
  std::memcpy(&number, from, sizeof(number));
  return number;
}

inline double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 != 0 ? -magnitude : magnitude;
}

inline double stored_weight(const conformance::SourceMatrix& weight, int64_t row, int64_t column) {
  const uint8_t* bytes = weight.bytes.data() + row * weight.stride;
  const int64_t i = column % 32;
  switch (weight.codec) {
    case COLIBRI_CODEC_F32:
      return static_cast<double>(read_number<float>(bytes + column * 4));
    case COLIBRI_CODEC_F16:
      return half_to_double(read_number<uint16_t>(bytes + column * 2));
    case COLIBRI_CODEC_BF16: {
      const uint32_t bits = static_cast<uint32_t>(read_number<uint16_t>(bytes + column * 2)) << 16;
      float number;
      std::memcpy(&number, &bits, 4);
      return static_cast<double>(number);
    }
    case COLIBRI_CODEC_Q8_0: {
      const uint8_t* block = bytes + column / 32 * 34;
      return half_to_double(read_number<uint16_t>(block)) * read_number<int8_t>(block + 2 + i);
    }
    default: {
      const uint8_t* block = bytes + column / 32 * 18;
      const int nibble = i < 16 ? block[2 + i] & 15 : block[2 + i - 16] >> 4;
      return half_to_double(read_number<uint16_t>(block)) * (nibble - 8);
    }
  }
}

inline double number_at(const conformance::Rows& rows, int64_t row, int64_t column) {
  return static_cast<double>(
      read_number<float>(rows.memory().data() + row * rows.tensor().stride[0] + column * 4));
}

// A number of a q8_32 row.
inline double prepared_at(const conformance::Rows& rows, int64_t row, int64_t column) {
  const uint8_t* bytes = rows.memory().data() + row * rows.tensor().stride[0];
  const int64_t cols = rows.tensor().shape[1];
  return static_cast<double>(read_number<float>(bytes + cols + column / 32 * 4)) *
         read_number<int8_t>(bytes + column);
}

inline Result<conformance::Kernel> reference_kernel(const conformance::Question& question) {
  static const colibri_host host = conformance::bare_host();
  return conformance::Kernel::create(kernel_table(), host, question);
}

}  // namespace colibri::cpu_generic
