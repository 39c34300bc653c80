// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/description.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "plugins/cpu_common/kv_layout.h"
#include "plugins/cpu_common/layouts.h"
#include "runtime/base/codec_facts.h"

namespace colibri::cpu {
namespace {

constexpr int64_t kLargestSize = INT32_MAX;  // of a dimension: products of two fit in 64 bits
constexpr uint32_t kLargestStruct = 4096;

const char* codec_name(uint32_t codec) {
  const CodecFacts* facts = codec_facts(codec);
  return facts == nullptr ? "another codec" : facts->name;
}

// One description being read; the first refusal ends it.
class Reader {
 public:
  Reader(const colibri_op_desc* desc, Weights weights, OperatorState* state, char why_not[128])
      : desc_(desc), weights_(weights), state_(state), why_not_(why_not) {}

  bool read();

 private:
  __attribute__((format(printf, 2, 3))) bool refuse(const char* format, ...) {
    if (why_not_ == nullptr) return false;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(why_not_, 128, format, arguments);
    va_end(arguments);
    return false;
  }

  // An attribute that this plugin cannot see must not be ignored: what lies beyond our struct has
  // to be zero.
  template <typename Attributes>
  bool read_attributes(Attributes* attributes) {
    if (desc_->attributes == nullptr) return refuse("the attributes are missing");
    uint32_t size;
    std::memcpy(&size, desc_->attributes, sizeof(size));
    if (size < sizeof(size) || size > kLargestStruct) {
      return refuse("the attributes' struct_size %" PRIu32 " makes no sense", size);
    }
    std::memset(attributes, 0, sizeof(*attributes));
    std::memcpy(attributes, desc_->attributes, std::min<size_t>(size, sizeof(*attributes)));
    const auto* bytes = static_cast<const unsigned char*>(desc_->attributes);
    for (size_t i = sizeof(*attributes); i < size; ++i) {
      if (bytes[i] != 0) return refuse("an attribute at byte %zu is newer than this plugin", i);
    }
    return true;
  }

  bool read_weights(uint32_t count, uint32_t rank);
  bool read_weight(const colibri_tensor& weight, uint32_t rank);
  bool in_range(const char* name, int64_t value, int64_t lowest, int64_t highest = kLargestSize) {
    if (value >= lowest && value <= highest) return true;
    return refuse("%s must be from %" PRId64 " to %" PRId64 ", got %" PRId64, name, lowest, highest,
                  value);
  }
  bool is_finite(const char* name, float value) {
    return std::isfinite(value) ? true : refuse("%s must be a finite number", name);
  }

  bool is_flag(const char* name, uint32_t value) {
    return value <= 1 ? true : refuse("%s must be 0 or 1, got %" PRIu32, name, value);
  }
  bool is_not_negative(const char* name, float value) {
    return std::isfinite(value) && value >= 0
               ? true
               : refuse("%s must be a finite number that is not negative", name);
  }

  bool embed();
  bool norm();
  bool quantize_rows();
  bool activation();
  bool grouped_matmul();
  bool rope();
  bool cache(uint32_t dtype, int64_t kv_heads, int64_t head_dim);
  bool attention();
  bool mla_attention();
  bool router_weight();
  bool router_groups();
  bool router();
  bool combine();

  const colibri_op_desc* desc_;
  Weights weights_;
  OperatorState* state_;
  char* why_not_;
};

bool Reader::read() {
  if (desc_ == nullptr || desc_->struct_size < sizeof(colibri_op_desc))
    return refuse("the description is incomplete");
  if (desc_->max_rows < 0)
    return refuse("max_rows must not be negative, got %" PRId64, desc_->max_rows);
  *state_ = OperatorState{};
  state_->op = desc_->op;
  switch (desc_->op) {
    case COLIBRI_OP_EMBED:
      return read_attributes(&state_->embed) && read_weights(1, 2) && embed();
    case COLIBRI_OP_NORM:
      return read_attributes(&state_->norm) && read_weights(1, 1) && norm();
    case COLIBRI_OP_QUANTIZE_ROWS:
      return read_attributes(&state_->quantize_rows) && read_weights(0, 0) && quantize_rows();
    case COLIBRI_OP_GROUPED_MATMUL:
      return read_attributes(&state_->grouped_matmul) && grouped_matmul();
    case COLIBRI_OP_ROPE:
      return read_attributes(&state_->rope) && read_weights(0, 0) && rope();
    case COLIBRI_OP_KV_WRITE: {
      const auto& a = state_->kv_write;
      return read_attributes(&state_->kv_write) && read_weights(0, 0) &&
             is_flag("keys_only", a.keys_only) && cache(a.cache_dtype, a.kv_heads, a.head_dim);
    }
    case COLIBRI_OP_ATTENTION:
      return read_attributes(&state_->attention) && read_weights(0, 0) && attention();
    case COLIBRI_OP_MLA_ATTENTION:
      return read_attributes(&state_->mla_attention) && read_weights(0, 0) && mla_attention();
    case COLIBRI_OP_ROUTER:
      return read_attributes(&state_->router) && router_weight() && router();
    case COLIBRI_OP_COMBINE:
      return read_attributes(&state_->combine) && read_weights(0, 0) && combine();
    default:
      return refuse("operator %" PRIu32 " is unknown to this plugin", desc_->op);
  }
}

bool Reader::read_weights(uint32_t count, uint32_t rank) {
  if (desc_->weight_count != count)
    return refuse("needs %" PRIu32 " weights, got %" PRIu32, count, desc_->weight_count);
  if (count == 0) return true;
  if (desc_->weights == nullptr) return refuse("the weights' descriptions are missing");
  for (uint32_t i = 0; i < count; ++i) {
    if (!read_weight(desc_->weights[i], rank)) return false;
    const colibri_tensor& first = desc_->weights[0];
    const colibri_tensor& weight = desc_->weights[i];
    if (weight.dtype != first.dtype || weight.shape[0] != first.shape[0] ||
        weight.shape[1] != first.shape[1]) {
      return refuse("the weights must have the same codec and shape");
    }
  }
  return true;
}

bool Reader::read_weight(const colibri_tensor& weight, uint32_t rank) {
  if (weight.struct_size < sizeof(colibri_tensor))
    return refuse("the description of a weight is incomplete");
  if (weight.rank != rank)
    return refuse("a weight needs rank %" PRIu32 ", got %" PRIu32, rank, weight.rank);
  const int64_t rows = rank == 1 ? 1 : weight.shape[0];
  const int64_t cols = weight.shape[rank - 1];
  if (!in_range("a weight's rows", rows, 1) || !in_range("a weight's columns", cols, 1))
    return false;
  const CodecFacts* facts = codec_facts(weight.dtype);
  if (facts == nullptr || !facts->weights) {
    return refuse("weights of codec %" PRIu32 " are not offered", weight.dtype);
  }
  if (cols % facts->elements != 0) {
    return refuse("%s needs columns that are a multiple of %" PRId64 ", got %" PRId64, facts->name,
                  facts->elements, cols);
  }
  const uint32_t packed =
      rank == 1 || is_decoded_codec(weight.dtype) ? COLIBRI_LAYOUT_ROWS : COLIBRI_LAYOUT_R8;
  const bool to_be_packed = weight.layout == COLIBRI_LAYOUT_ROWS && weights_ == Weights::kAnyLayout;
  if (weight.layout != packed && !to_be_packed) {
    return refuse("needs a weight in layout %" PRIu32 ", got layout %" PRIu32, packed,
                  weight.layout);
  }
  state_->weight_codec = weight.dtype;
  state_->weight_layout = packed;
  state_->rows = rows;
  state_->cols = cols;
  return true;
}

bool Reader::embed() {
  return is_finite("scale", state_->embed.scale);
}

bool Reader::norm() {
  const auto& a = state_->norm;
  if (a.kind != COLIBRI_NORM_RMS)
    return refuse("norm kind %" PRIu32 " is not offered (1 = rms)", a.kind);
  if (!is_not_negative("eps", a.eps) || !is_not_negative("clamp", a.clamp)) return false;
  if (state_->weight_codec != COLIBRI_CODEC_F32) {
    return refuse("a norm needs its weight as f32, got %s", codec_name(state_->weight_codec));
  }
  if (a.output_dtype == COLIBRI_CODEC_F32) return true;
  if (a.output_dtype != COLIBRI_CODEC_Q8_32) return refuse("the output must be f32 or q8_32");
  if (state_->cols % kBlockCols == 0) return true;
  return refuse("q8_32 needs columns that are a multiple of 32, got %" PRId64, state_->cols);
}

bool Reader::quantize_rows() {
  return state_->quantize_rows.output_dtype == COLIBRI_CODEC_Q8_32
             ? true
             : refuse("the output must be q8_32");
}

// What is done to the products, apart from the codec it ends in.
bool Reader::activation() {
  const auto& a = state_->grouped_matmul;
  const bool gated = a.epilogue == COLIBRI_EPILOGUE_GATED;
  if (a.activation > COLIBRI_ACTIVATION_SIGMOID) {
    return refuse("activation %" PRIu32 " is not offered (0 = none, 1 = silu, 2 = sigmoid)",
                  a.activation);
  }
  if (!gated && a.activation == COLIBRI_ACTIVATION_SILU)
    return refuse("silu needs the gated epilogue");
  if (gated && a.activation == COLIBRI_ACTIVATION_SIGMOID)
    return refuse("sigmoid is not offered with the gated epilogue");
  if (!is_flag("bias", a.bias) || !is_not_negative("clamp", a.clamp) ||
      !is_not_negative("alpha", a.alpha) || !is_finite("up_offset", a.up_offset))
    return false;
  if (!gated && (a.alpha != 0 || a.up_offset != 0))
    return refuse("alpha and up_offset need the gated epilogue");
  if (a.alpha != 0 && a.activation != COLIBRI_ACTIVATION_SILU) return refuse("alpha needs silu");
  return true;
}

bool Reader::grouped_matmul() {
  const auto& a = state_->grouped_matmul;
  if (a.epilogue != COLIBRI_EPILOGUE_NONE && a.epilogue != COLIBRI_EPILOGUE_GATED) {
    return refuse("epilogue %" PRIu32 " is not offered (0 = none, 1 = gated)", a.epilogue);
  }
  if (!activation()) return false;
  const bool gated = a.epilogue == COLIBRI_EPILOGUE_GATED;
  if (!read_weights(gated ? 2 : 1, 2)) return false;
  const uint32_t input =
      is_quantised_codec(state_->weight_codec) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  if (a.input_dtype != input) {
    return refuse("%s weights need %s rows as input", codec_name(state_->weight_codec),
                  codec_name(input));
  }
  if (a.output_dtype == COLIBRI_CODEC_F32) return true;
  if (a.output_dtype != COLIBRI_CODEC_Q8_32) return refuse("the output must be f32 or q8_32");
  if (!gated) return refuse("a q8_32 output needs the gated epilogue");
  if (state_->rows % kBlockCols == 0) return true;
  return refuse("a q8_32 output needs rows that are a multiple of 32, got %" PRId64, state_->rows);
}

bool Reader::rope() {
  const auto& a = state_->rope;
  if (a.style != COLIBRI_ROPE_HALF && a.style != COLIBRI_ROPE_INTERLEAVED) {
    return refuse("rope style %" PRIu32 " is not offered (1 = half, 2 = interleaved)", a.style);
  }
  if (!in_range("heads", a.heads, 1) || !in_range("head_dim", a.head_dim, 1)) return false;
  if (!in_range("heads * head_dim", a.heads * a.head_dim, 1)) return false;
  if (!in_range("rope dims", a.dims, 0, a.head_dim)) return false;
  if (!in_range("first", a.first, 0, a.head_dim - a.dims)) return false;
  return a.dims % 2 == 0 ? true : refuse("rope dims must be even, got %" PRId64, a.dims);
}

bool Reader::cache(uint32_t dtype, int64_t kv_heads, int64_t head_dim) {
  if (!is_cache_codec(dtype)) return refuse("the cache must be f32, f16 or q8_0");
  return in_range("kv_heads", kv_heads, 1) && in_range("head_dim", head_dim, 1) &&
         in_range("kv_heads * head_dim", kv_heads * head_dim, 1);
}

bool Reader::attention() {
  const auto& a = state_->attention;
  if (!cache(a.cache_dtype, a.kv_heads, a.head_dim)) return false;
  if (!in_range("heads", a.heads, 1) || !in_range("heads * head_dim", a.heads * a.head_dim, 1))
    return false;
  if (a.heads % a.kv_heads != 0) {
    return refuse("heads must be a multiple of kv_heads, got %" PRId64 " and %" PRId64, a.heads,
                  a.kv_heads);
  }
  if (!is_flag("sinks", a.sinks)) return false;
  return in_range("window", a.window, 0, INT64_MAX) && is_finite("scale", a.scale);
}

bool Reader::mla_attention() {
  const auto& a = state_->mla_attention;
  return in_range("latent", a.latent, 1) && in_range("rope_dims", a.rope_dims, 1) &&
         cache(a.cache_dtype, 1, a.latent + a.rope_dims) && in_range("heads", a.heads, 1) &&
         is_finite("scale", a.scale);
}

// The weight, or the number of experts alone.
bool Reader::router_weight() {
  const int64_t experts = state_->router.experts;
  if (experts == 0) return read_weights(1, 2);
  state_->rows = state_->cols = experts;
  state_->weight_codec = COLIBRI_CODEC_F32;
  return read_weights(0, 0) && in_range("experts", experts, 1);
}

bool Reader::router_groups() {
  const auto& a = state_->router;
  if (a.groups == 0) {
    if (a.keep_groups == 0 && a.group_rule == 0 && a.group_mask == 0) return true;
    return refuse("keep_groups, group_rule and group_mask need groups");
  }
  if (a.group_rule != COLIBRI_GROUP_RULE_MAX && a.group_rule != COLIBRI_GROUP_RULE_TOP2_SUM) {
    return refuse("group rule %" PRIu32 " is not offered (1 = max, 2 = top2_sum)", a.group_rule);
  }
  if (a.group_mask != COLIBRI_GROUP_MASK_NEGATIVE_INFINITY &&
      a.group_mask != COLIBRI_GROUP_MASK_ZERO) {
    return refuse("group mask %" PRIu32 " is not offered (1 = -inf, 2 = zero)", a.group_mask);
  }
  if (state_->rows % a.groups != 0) {
    return refuse("%" PRId64 " experts cannot be cut into %" PRIu32 " equal groups", state_->rows,
                  a.groups);
  }
  const int64_t size = state_->rows / a.groups;
  if (a.group_rule == COLIBRI_GROUP_RULE_TOP2_SUM && size < 2)
    return refuse("the group rule top2_sum needs groups of two experts or more");
  return in_range("keep_groups", a.keep_groups, 1, a.groups) &&
         in_range("top_k with keep_groups", a.top_k, 1, a.keep_groups * size);
}

bool Reader::router() {
  const auto& a = state_->router;
  if (a.score != COLIBRI_SCORE_SOFTMAX && a.score != COLIBRI_SCORE_SIGMOID) {
    return refuse("router score %" PRIu32 " is not offered (1 = softmax, 2 = sigmoid)", a.score);
  }
  if (!is_flag("renormalize", a.renormalize) || !is_flag("bias", a.bias) ||
      !is_flag("select_bias", a.select_bias) || !is_finite("scale", a.scale))
    return false;
  if (!is_float_codec(state_->weight_codec)) {
    return refuse("a router needs an f32, f16 or bf16 weight, got %s",
                  codec_name(state_->weight_codec));
  }
  return in_range("top_k", a.top_k, 1, state_->rows) && router_groups();
}

bool Reader::combine() {
  return in_range("slots", state_->combine.slots, 1) && is_finite("scale", state_->combine.scale);
}

}  // namespace

bool understand(const colibri_op_desc* desc, Weights weights, OperatorState* state,
                char why_not[128]) {
  return Reader(desc, weights, state, why_not).read();
}

}  // namespace colibri::cpu
