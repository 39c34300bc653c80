// SPDX-License-Identifier: Apache-2.0
// What the host knows of codecs: names, sizes, which one a weight is held in, and whether its
// numbers are finite.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "colibri/codec.h"
#include "runtime/base/status.h"
#include "runtime/config/pipeline.h"
#include "runtime/model/spec.h"

namespace colibri::model {

// "bf16"; nullptr for an unknown number.
const char* codec_name(uint32_t codec);
// COLIBRI_CODEC_NONE if no codec has this name.
uint32_t codec_of_name(std::string_view name);
// Elements of a row that are stored together (1 for plain numbers), and the bytes they take.
struct CodecBlock {
  int64_t elements;
  uint64_t bytes;
};
std::optional<CodecBlock> codec_block(uint32_t codec);  // nullopt = unknown codec
// True for the codecs that weights of a model may have: floats and quantised ones.
bool is_weight_codec(uint32_t codec);

// The codec a weight is held in: the setting of its group, else as stored; norms are always f32. An
// error if its columns are no multiple of the codec's block, or if it is quantised already and
// would have to be quantised again.
Result<uint32_t> codec_of(const Weight& weight, const config::Quantize& quantize);

// Whether n bytes of stored weights hold only finite numbers (of quantised blocks: finite scales).
// COLIBRI_CORRUPT_DATA otherwise, naming `where` (the tensor) and the first element that is not;
// first_element is the index of data's first.
Status check_finite(uint32_t codec, const void* data, uint64_t n, std::string_view where,
                    int64_t first_element = 0);

}  // namespace colibri::model
