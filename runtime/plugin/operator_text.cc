// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/operator_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>

namespace colibri::plugin {
namespace {

constexpr std::string_view kNames[COLIBRI_OP_COUNT] = {
    "",     "embed",    "norm",      "quantize_rows", "grouped_matmul",
    "rope", "kv_write", "attention", "router",        "combine"};

std::string codec_text(uint32_t codec) {
  switch (codec) {
    case COLIBRI_CODEC_F32:
      return "f32";
    case COLIBRI_CODEC_F16:
      return "f16";
    case COLIBRI_CODEC_BF16:
      return "bf16";
    case COLIBRI_CODEC_Q8_0:
      return "q8_0";
    case COLIBRI_CODEC_Q4_0:
      return "q4_0";
    case COLIBRI_CODEC_Q8_32:
      return "q8_32";
    default:
      return "codec " + std::to_string(codec);
  }
}

struct Field {
  enum class Kind { kNumber, kCodec, kFloat, kWide };
  const char* name;
  size_t offset;
  Kind kind;
};
#define FIELD(type, name, kind)                                           \
  Field {                                                                 \
#name, offsetof(colibri_##type##_attributes, name), Field::Kind::kind \
  }
constexpr Field kEmbed[] = {FIELD(embed, scale, kFloat)};
constexpr Field kNorm[] = {FIELD(norm, kind, kNumber), FIELD(norm, eps, kFloat),
                           FIELD(norm, output_dtype, kCodec)};
constexpr Field kQuantizeRows[] = {FIELD(quantize_rows, output_dtype, kCodec)};
constexpr Field kGroupedMatmul[] = {
    FIELD(grouped_matmul, epilogue, kNumber), FIELD(grouped_matmul, activation, kNumber),
    FIELD(grouped_matmul, input_dtype, kCodec), FIELD(grouped_matmul, output_dtype, kCodec)};
constexpr Field kRope[] = {FIELD(rope, style, kNumber), FIELD(rope, heads, kWide),
                           FIELD(rope, head_dim, kWide), FIELD(rope, dims, kWide)};
constexpr Field kKvWrite[] = {FIELD(kv_write, cache_dtype, kCodec),
                              FIELD(kv_write, kv_heads, kWide), FIELD(kv_write, head_dim, kWide)};
constexpr Field kAttention[] = {
    FIELD(attention, cache_dtype, kCodec), FIELD(attention, heads, kWide),
    FIELD(attention, kv_heads, kWide),     FIELD(attention, head_dim, kWide),
    FIELD(attention, window, kWide),       FIELD(attention, scale, kFloat)};
constexpr Field kRouter[] = {FIELD(router, score, kNumber), FIELD(router, top_k, kNumber),
                             FIELD(router, renormalize, kNumber)};
constexpr Field kCombine[] = {FIELD(combine, slots, kNumber), FIELD(combine, scale, kFloat)};
#undef FIELD

constexpr std::span<const Field> kFields[COLIBRI_OP_COUNT] = {
    {},    kEmbed,   kNorm,      kQuantizeRows, kGroupedMatmul,
    kRope, kKvWrite, kAttention, kRouter,       kCombine};

template <typename T>
T read(const void* from, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(from) + offset, sizeof(value));
  return value;
}

std::string value_text(const void* attributes, const Field& field) {
  switch (field.kind) {
    case Field::Kind::kNumber:
      return std::to_string(read<uint32_t>(attributes, field.offset));
    case Field::Kind::kCodec:
      return codec_text(read<uint32_t>(attributes, field.offset));
    case Field::Kind::kWide:
      return std::to_string(read<int64_t>(attributes, field.offset));
    case Field::Kind::kFloat: {
      char shortest[32];
      const float value = read<float>(attributes, field.offset);
      return std::string(shortest, std::to_chars(shortest, std::end(shortest), value).ptr);
    }
  }
  return "";
}

std::string tensor_text(const colibri_tensor& tensor) {
  std::string text = codec_text(tensor.dtype) + " [";
  for (uint32_t i = 0; i < std::min(tensor.rank, 4u); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
  }
  return text + "]";
}

}  // namespace

const char* operator_name(uint32_t op) {
  return op < COLIBRI_OP_COUNT ? kNames[op].data() : "";
}

uint32_t operator_of_name(std::string_view name) {
  const auto* found = std::find(std::begin(kNames) + 1, std::end(kNames), name);
  return found == std::end(kNames) ? 0 : static_cast<uint32_t>(found - std::begin(kNames));
}

std::vector<std::string_view> operator_names() {
  return {std::begin(kNames) + 1, std::end(kNames)};
}

std::string describe(const colibri_op_desc& desc) {
  if (desc.op == 0 || desc.op >= COLIBRI_OP_COUNT) return "operator " + std::to_string(desc.op);
  std::string text = std::string(kNames[desc.op]) + " (";
  for (const Field& field : kFields[desc.op]) {
    text += std::string(field.name) + " " + value_text(desc.attributes, field) + ", ";
  }
  text.replace(text.size() - 2, 2, "; ");
  for (uint32_t i = 0; i < desc.weight_count; ++i) {
    text += "weight " + tensor_text(desc.weights[i]) + "; ";
  }
  return text + "up to " + std::to_string(desc.max_rows) + " rows)";
}

}  // namespace colibri::plugin
