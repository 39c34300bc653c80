// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/kv_cache.h"

namespace colibri::engine {
namespace {

constexpr int64_t kBlock = COLIBRI_KV_BLOCK;

int64_t blocks_of(int64_t n) {
  return (n + kBlock - 1) / kBlock;
}
int64_t element_bytes(uint32_t codec) {
  return codec == COLIBRI_CODEC_F16 ? 2 : 4;
}

// [heads, blocks, inner, 16], dense.
colibri_tensor cache_view(uint32_t codec, int64_t heads, int64_t blocks, int64_t inner) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = codec;
  tensor.rank = 4;
  const int64_t shape[4] = {heads, blocks, inner, kBlock};
  int64_t stride = element_bytes(codec);
  for (int i = 3; i >= 0; --i) {
    tensor.shape[i] = shape[i];
    tensor.stride[i] = stride;
    stride *= shape[i];
  }
  return tensor;
}

uint64_t view_bytes(const colibri_tensor& tensor) {
  return static_cast<uint64_t>(tensor.shape[0] * tensor.stride[0]);
}

struct Views {
  colibri_tensor k, v;  // latent: no v, of 0 bytes
};

Views views(const model::ModelSpec& spec, uint32_t codec, int64_t max_tokens) {
  const int64_t blocks = blocks_of(max_tokens);
  if (spec.attention == model::AttentionKind::kMla) {
    return {cache_view(codec, 1, blocks, spec.latent + spec.rope.dims), {}};
  }
  return {cache_view(codec, spec.kv_heads, blocks, spec.head_dim),
          cache_view(codec, spec.kv_heads, blocks, blocks_of(spec.head_dim) * kBlock)};
}

}  // namespace

uint64_t KvCache::bytes(const model::ModelSpec& spec, uint32_t codec, int64_t max_tokens) {
  const Views view = views(spec, codec, max_tokens);
  return spec.layers.size() * (align_up(view_bytes(view.k)) + align_up(view_bytes(view.v)));
}

Result<KvCache> KvCache::create(const model::ModelSpec& spec, uint32_t codec, int64_t max_tokens) {
  KvCache cache;
  COLIBRI_ASSIGN(cache.memory_, Memory::allocate(bytes(spec, codec, max_tokens),
                                                 "the key-value cache (context.max_tokens)"));
  std::byte* at = cache.memory_.data();
  for (size_t layer = 0; layer < spec.layers.size(); ++layer) {
    Views view = views(spec, codec, max_tokens);
    view.k.buffer = at;
    at += align_up(view_bytes(view.k));
    view.v.buffer = at;
    at += align_up(view_bytes(view.v));
    cache.k_.push_back(view.k);
    cache.v_.push_back(view.v);
  }
  return cache;
}

}  // namespace colibri::engine
