// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests beside this file: stored weights and rows as doubles.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "colibri/kernels.h"
#include "plugins/cpu_generic/kernel_table.h"
#include "runtime/base/decode_row.h"
#include "tests/conformance/kernel.h"
#include "tests/conformance/kernel_conformance.h"

namespace colibri::cpu_generic {

template <typename T>
T read_number(const uint8_t* from) {
  T number;
  std::memcpy(&number, from, sizeof(number));
  return number;
}

// Of quantised codecs: what decode_row() makes of it, which is checked against other programs' numbers.
inline double stored_weight(const conformance::SourceMatrix& weight, int64_t row, int64_t column) {
  const CodecFacts& facts = *codec_facts(weight.codec);
  float numbers[256];
  decode_row(weight.codec,
             weight.bytes.data() + row * weight.stride + column / facts.elements * facts.bytes,
             facts.elements, numbers);
  return static_cast<double>(numbers[column % facts.elements]);
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
  return conformance::Kernel::create(kKernelTable, host, question);
}

}  // namespace colibri::cpu_generic
