// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/operator_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>

#include "runtime/base/codec_facts.h"

namespace colibri::plugin {
namespace {

constexpr std::string_view kNames[COLIBRI_OP_COUNT] = {
    "",         "embed",     "norm",   "quantize_rows", "grouped_matmul", "rope",
    "kv_write", "attention", "router", "combine",       "mla_attention"};

std::string codec_text(uint32_t codec) {
  const CodecFacts* facts = codec_facts(codec);
  return facts == nullptr ? "codec " + std::to_string(codec) : facts->name;
}

// An attribute. One that is `optional` is not spoken of while it is zero.
struct Field {
  enum class Kind { kNumber, kCodec, kFloat, kWide, kNamed, kFlag };
  const char* name;
  size_t offset;
  Kind kind;
  bool optional = false;
  std::span<const std::string_view> values = {};  // kNamed: the name of each value
};

constexpr std::string_view kNorms[] = {"none", "rms"};
constexpr std::string_view kEpilogues[] = {"none", "gated"};
constexpr std::string_view kActivations[] = {"none", "silu", "sigmoid"};
constexpr std::string_view kRopeStyles[] = {"none", "half", "interleaved"};
constexpr std::string_view kScores[] = {"none", "softmax", "sigmoid"};
constexpr std::string_view kGroupRules[] = {"none", "max", "top2_sum"};
constexpr std::string_view kGroupMasks[] = {"none", "negative_infinity", "zero"};

#define PLACE(type, name) #name, offsetof(colibri_##type##_attributes, name)
#define FIELD(type, name, kind)          \
  Field {                                \
    PLACE(type, name), Field::Kind::kind \
  }
#define OPTION(type, name, kind)               \
  Field {                                      \
    PLACE(type, name), Field::Kind::kind, true \
  }
#define NAMED(type, name, values)                         \
  Field {                                                 \
    PLACE(type, name), Field::Kind::kNamed, false, values \
  }
#define NAMED_OPTION(type, name, values)                 \
  Field {                                                \
    PLACE(type, name), Field::Kind::kNamed, true, values \
  }
constexpr Field kEmbed[] = {FIELD(embed, scale, kFloat)};
constexpr Field kNorm[] = {NAMED(norm, kind, kNorms), FIELD(norm, eps, kFloat),
                           FIELD(norm, output_dtype, kCodec), OPTION(norm, clamp, kFloat)};
constexpr Field kQuantizeRows[] = {FIELD(quantize_rows, output_dtype, kCodec)};
constexpr Field kGroupedMatmul[] = {
    NAMED(grouped_matmul, epilogue, kEpilogues), NAMED(grouped_matmul, activation, kActivations),
    FIELD(grouped_matmul, input_dtype, kCodec),  FIELD(grouped_matmul, output_dtype, kCodec),
    OPTION(grouped_matmul, bias, kFlag),         OPTION(grouped_matmul, clamp, kFloat),
    OPTION(grouped_matmul, alpha, kFloat),       OPTION(grouped_matmul, up_offset, kFloat)};
constexpr Field kRope[] = {NAMED(rope, style, kRopeStyles), FIELD(rope, heads, kWide),
                           FIELD(rope, head_dim, kWide), FIELD(rope, dims, kWide),
                           OPTION(rope, first, kWide)};
constexpr Field kKvWrite[] = {FIELD(kv_write, cache_dtype, kCodec),
                              FIELD(kv_write, kv_heads, kWide), FIELD(kv_write, head_dim, kWide),
                              OPTION(kv_write, keys_only, kFlag)};
constexpr Field kAttention[] = {
    FIELD(attention, cache_dtype, kCodec), FIELD(attention, heads, kWide),
    FIELD(attention, kv_heads, kWide),     FIELD(attention, head_dim, kWide),
    FIELD(attention, window, kWide),       FIELD(attention, scale, kFloat),
    OPTION(attention, sinks, kFlag)};
constexpr Field kRouter[] = {NAMED(router, score, kScores),
                             FIELD(router, top_k, kNumber),
                             OPTION(router, renormalize, kFlag),
                             OPTION(router, bias, kFlag),
                             OPTION(router, select_bias, kFlag),
                             OPTION(router, groups, kNumber),
                             OPTION(router, keep_groups, kNumber),
                             NAMED_OPTION(router, group_rule, kGroupRules),
                             NAMED_OPTION(router, group_mask, kGroupMasks),
                             OPTION(router, scale, kFloat),
                             OPTION(router, experts, kNumber)};
constexpr Field kCombine[] = {FIELD(combine, slots, kNumber), FIELD(combine, scale, kFloat)};
constexpr Field kMlaAttention[] = {
    FIELD(mla_attention, cache_dtype, kCodec), FIELD(mla_attention, heads, kWide),
    FIELD(mla_attention, latent, kWide), FIELD(mla_attention, rope_dims, kWide),
    FIELD(mla_attention, scale, kFloat)};
#undef PLACE
#undef FIELD
#undef OPTION
#undef NAMED
#undef NAMED_OPTION

constexpr std::span<const Field> kFields[COLIBRI_OP_COUNT] = {
    {},       kEmbed,     kNorm,   kQuantizeRows, kGroupedMatmul, kRope,
    kKvWrite, kAttention, kRouter, kCombine,      kMlaAttention};

template <typename T>
T read(const void* from, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(from) + offset, sizeof(value));
  return value;
}

bool is_zero(const void* attributes, const Field& field) {
  if (field.kind == Field::Kind::kFloat) return read<float>(attributes, field.offset) == 0;
  if (field.kind == Field::Kind::kWide) return read<int64_t>(attributes, field.offset) == 0;
  return read<uint32_t>(attributes, field.offset) == 0;
}

std::string value_text(const void* attributes, const Field& field) {
  switch (field.kind) {
    case Field::Kind::kNamed: {
      const auto value = read<uint32_t>(attributes, field.offset);
      return value < field.values.size() ? std::string(field.values[value]) : std::to_string(value);
    }
    case Field::Kind::kFlag:
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
    if (field.optional && is_zero(desc.attributes, field)) continue;
    text += field.name;
    const bool is_set =
        field.kind == Field::Kind::kFlag && value_text(desc.attributes, field) == "1";
    text += is_set ? ", " : " " + value_text(desc.attributes, field) + ", ";
  }
  text.replace(text.size() - 2, 2, "; ");
  for (uint32_t i = 0; i < desc.weight_count; ++i) {
    text += "weight " + tensor_text(desc.weights[i]) + "; ";
  }
  return text + "up to " + std::to_string(desc.max_rows) + " rows)";
}

}  // namespace colibri::plugin
