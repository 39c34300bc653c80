// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/codecs.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/codec_facts.h"
#include "runtime/base/decode_row.h"
#include "runtime/base/utf8.h"

namespace colibri::model {
namespace {

uint32_t wanted_codec(const Weight& weight, const config::Quantize& quantize) {
  switch (weight.role) {
    case Role::kEmbedding:
      return quantize.embedding;
    case Role::kHead:
      return quantize.head;
    case Role::kQ:
    case Role::kK:
    case Role::kV:
    case Role::kO:
    case Role::kQDown:
    case Role::kQUp:
    case Role::kKvDown:
    case Role::kKAbsorb:
    case Role::kVUp:
      return quantize.attention;
    case Role::kRouter:
    case Role::kSharedGate:
      return quantize.router;
    case Role::kGate:
    case Role::kUp:
    case Role::kDown:
      return quantize.experts;
    default:  // vectors
      return COLIBRI_CODEC_F32;
  }
}

// Index of the first of n numbers (one every `stride` bytes) whose exponent bits are all ones,
// which are the infinities and NaNs of IEEE 754 formats; n if there is none.
template <typename Bits>
uint64_t first_not_finite(const void* data, uint64_t n, Bits exponent, size_t stride) {
  const char* bytes = static_cast<const char*>(data);
  constexpr uint64_t kRun = 1024;
  for (uint64_t begin = 0; begin < n; begin += kRun) {
    const uint64_t end = begin + kRun < n ? begin + kRun : n;
    // A run without an early exit, so that the compiler can vectorise it.
    bool found = false;
    for (uint64_t i = begin; i < end; ++i) {
      Bits bits;
      std::memcpy(&bits, bytes + i * stride, sizeof(bits));
      found |= (bits & exponent) == exponent;
    }
    for (uint64_t i = begin; found && i < end; ++i) {
      Bits bits;
      std::memcpy(&bits, bytes + i * stride, sizeof(bits));
      if ((bits & exponent) == exponent) return i;
    }
  }
  return n;
}

// Where the f16 scales of a block stand: `count` of them from byte `first` on. As integers of few
// bits they are multiplied with stay far from f32's largest number, finite scales are enough.
struct Scales {
  uint32_t first = 0, count = 0;
};

Scales scales_of(uint32_t codec) {
  switch (codec) {
    case COLIBRI_CODEC_Q8_0:
    case COLIBRI_CODEC_Q4_0:
    case COLIBRI_CODEC_Q5_0:
    case COLIBRI_CODEC_IQ4_NL:
    case COLIBRI_CODEC_IQ4_XS:
      return {0, 1};
    case COLIBRI_CODEC_Q4_1:
    case COLIBRI_CODEC_Q5_1:
    case COLIBRI_CODEC_Q4_K:
    case COLIBRI_CODEC_Q5_K:
      return {0, 2};
    case COLIBRI_CODEC_Q2_K:
      return {80, 2};
    case COLIBRI_CODEC_Q3_K:
      return {108, 1};
    case COLIBRI_CODEC_Q6_K:
      return {208, 1};
    default:
      return {};
  }
}

uint64_t first_bad_scale(Scales scales, const void* data, uint64_t blocks, uint64_t block_bytes) {
  uint64_t bad = blocks;
  for (uint32_t i = 0; i < scales.count; ++i) {
    const char* first = static_cast<const char*>(data) + scales.first + 2 * i;
    bad = std::min(bad, first_not_finite<uint16_t>(first, blocks, 0x7c00, block_bytes));
  }
  return bad;
}

// The same for a codec whose numbers can be NaN or too large though its scales are finite.
constexpr int64_t kMostBlockElements = 128;  // of mxfp4 and f8_e4m3_128

uint64_t first_bad_value(uint32_t codec, const void* data, uint64_t blocks, CodecBlock block) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  float numbers[kMostBlockElements];
  for (uint64_t i = 0; i < blocks; ++i) {
    decode_row(codec, bytes + i * block.bytes, block.elements, numbers);
    if (first_not_finite<uint32_t>(numbers, static_cast<uint64_t>(block.elements), 0x7f800000u,
                                   4) != static_cast<uint64_t>(block.elements)) {
      return i;
    }
  }
  return blocks;
}

}  // namespace

const char* codec_name(uint32_t codec) {
  const CodecFacts* facts = codec_facts(codec);
  return facts == nullptr ? nullptr : facts->name;
}

uint32_t codec_of_name(std::string_view name) {
  for (const CodecFacts& facts : kCodecFacts) {
    if (name == facts.name) return facts.id;
  }
  return COLIBRI_CODEC_NONE;
}

std::optional<CodecBlock> codec_block(uint32_t codec) {
  const CodecFacts* facts = codec_facts(codec);
  if (facts == nullptr) return std::nullopt;
  return CodecBlock{facts->elements, static_cast<uint64_t>(facts->bytes)};
}

bool is_weight_codec(uint32_t codec) {
  const CodecFacts* facts = codec_facts(codec);
  return facts != nullptr && facts->weights;
}

Result<uint32_t> codec_of(const Weight& weight, const config::Quantize& quantize) {
  const uint32_t wanted = wanted_codec(weight, quantize);
  if (wanted == COLIBRI_CODEC_NONE || wanted == weight.codec()) return weight.codec();
  if (weight.tensor->layout != COLIBRI_LAYOUT_ROWS) {
    return unsupported(std::string(role_name(weight.role)) + " " + utf8::printable(weight.name()) +
                       ": is packed already as " + codec_name(weight.codec()) +
                       "; convert the source anew for " + codec_name(wanted));
  }
  const std::optional<CodecBlock> stored = codec_block(weight.codec());
  const std::optional<CodecBlock> block = codec_block(wanted);
  const std::string place =
      std::string(role_name(weight.role)) + " " + utf8::printable(weight.name());
  if (!block || !is_weight_codec(wanted)) {
    return invalid_argument(place + ": cannot be held in codec " + std::to_string(wanted));
  }
  if (stored->elements != 1) {
    return unsupported(place + ": is stored as " + codec_name(weight.codec()) +
                       " and is not quantised again to " + codec_name(wanted));
  }
  if (weight.cols % block->elements != 0) {
    return unsupported(place + ": has rows of " + std::to_string(weight.cols) + " elements, and " +
                       codec_name(wanted) + " needs a multiple of " +
                       std::to_string(block->elements) + "; choose f32, f16 or bf16 for it");
  }
  return wanted;
}

Status check_finite(uint32_t codec, const void* data, uint64_t n, std::string_view where,
                    int64_t first_element) {
  const std::optional<CodecBlock> block = codec_block(codec);
  if (!block) return internal_error(std::string(where) + ": has no known codec");
  const uint64_t blocks = n / block->bytes;
  uint64_t bad = blocks;
  switch (codec) {
    case COLIBRI_CODEC_F32:
      bad = first_not_finite<uint32_t>(data, blocks, 0x7f800000u, 4);
      break;
    case COLIBRI_CODEC_F16:
      bad = first_not_finite<uint16_t>(data, blocks, 0x7c00, 2);
      break;
    case COLIBRI_CODEC_BF16:
      bad = first_not_finite<uint16_t>(data, blocks, 0x7f80, 2);
      break;
    case COLIBRI_CODEC_MXFP4:
    case COLIBRI_CODEC_F8_E4M3_128:
      bad = first_bad_value(codec, data, blocks, *block);
      break;
    default:
      if (scales_of(codec).count == 0) {
        return internal_error(std::string(where) + ": its codec holds no weights");
      }
      bad = first_bad_scale(scales_of(codec), data, blocks, block->bytes);
  }
  if (bad == blocks) return {};
  const int64_t element = first_element + static_cast<int64_t>(bad) * block->elements;
  return corrupt_data(std::string(where) + ": element " + std::to_string(element) +
                      " is NaN or infinite; the file is damaged, or was written by a training run "
                      "that had diverged");
}

}  // namespace colibri::model
