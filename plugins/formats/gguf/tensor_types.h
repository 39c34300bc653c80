// SPDX-License-Identifier: Apache-2.0
// The numbers that GGUF gives to the types of tensors.
#pragma once

#include <cstdint>

#include "colibri/codec.h"

namespace colibri::gguf {

struct TensorType {
  uint32_t number;
  const char* name;
  uint32_t codec;  // COLIBRI_CODEC_NONE = known by name only
};

// nullptr for a number that no type has.
const TensorType* tensor_type(uint32_t number);

}  // namespace colibri::gguf
