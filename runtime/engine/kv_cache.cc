// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/kv_cache.h"

namespace colibri::engine {
namespace {

constexpr int64_t kBlock = COLIBRI_KV_BLOCK;

// Bytes of one part of 32 numbers of the 16 keys or values of a block in q8_0.
constexpr int64_t kQ8PartBytes = 16 * 2 + 16 * 32;

int64_t round_up(int64_t n, int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// [heads, blocks, width, 16], dense. width: of a key or value with its padding.
colibri_tensor cache_view(uint32_t codec, int64_t heads, int64_t blocks, int64_t width) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = codec;
  tensor.rank = 4;
  tensor.shape[0] = heads;
  tensor.shape[1] = blocks;
  tensor.shape[2] = width;
  tensor.shape[3] = kBlock;
  if (codec == COLIBRI_CODEC_Q8_0) {
    tensor.stride[1] = width / 32 * kQ8PartBytes;
  } else {
    tensor.stride[3] = codec == COLIBRI_CODEC_F16 ? 2 : 4;
    tensor.stride[2] = kBlock * tensor.stride[3];
    tensor.stride[1] = width * tensor.stride[2];
  }
  tensor.stride[0] = blocks * tensor.stride[1];
  return tensor;
}

uint64_t view_bytes(const colibri_tensor& tensor) {
  return static_cast<uint64_t>(tensor.shape[0] * tensor.stride[0]);
}

struct Views {
  colibri_tensor k, v;  // latent: no v, of 0 bytes
};

Views views(const model::ModelSpec& spec, uint32_t codec, int64_t max_tokens) {
  const int64_t blocks = round_up(max_tokens, kBlock) / kBlock;
  const auto view = [&](int64_t heads, int64_t n, int64_t unit) {
    return cache_view(codec, heads, blocks, round_up(n, codec == COLIBRI_CODEC_Q8_0 ? 32 : unit));
  };
  if (spec.attention == model::AttentionKind::kMla) {
    return {view(1, spec.latent + spec.rope.dims, 1), {}};
  }
  return {view(spec.kv_heads, spec.head_dim, 1), view(spec.kv_heads, spec.head_dim, 16)};
}

}  // namespace

uint64_t KvCache::bytes(const model::ModelSpec& spec, uint32_t codec, int64_t max_tokens) {
  const Views view = views(spec, codec, max_tokens);
  return spec.layers.size() * (align_up(view_bytes(view.k)) + align_up(view_bytes(view.v)));
}

Result<KvCache> KvCache::create(const model::ModelSpec& spec, uint32_t codec, int64_t max_tokens,
                                const plugin::Device* device) {
  KvCache cache;
  COLIBRI_ASSIGN(cache.memory_, Block::allocate(device, bytes(spec, codec, max_tokens),
                                                "the key-value cache (context.max_tokens)"));
  uint64_t at = 0;
  for (size_t layer = 0; layer < spec.layers.size(); ++layer) {
    Views view = views(spec, codec, max_tokens);
    view.k.buffer = view.v.buffer = cache.memory_.data();
    view.k.offset = at;
    at += align_up(view_bytes(view.k));
    view.v.offset = at;
    at += align_up(view_bytes(view.v));
    cache.k_.push_back(view.k);
    cache.v_.push_back(view.v);
  }
  return cache;
}

}  // namespace colibri::engine
