// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_generic/attention_query.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu_generic/chain_sum.h"
#include "plugins/cpu_generic/lane_sum.h"
#include "plugins/cpu_generic/prepare_block.h"

namespace colibri::cpu_generic {
namespace {

constexpr int64_t kStepKeys = 64;
constexpr int64_t kSplitKeys = 1024;

}  // namespace

AttentionQuery::AttentionQuery(const colibri_math& math, const Shape& shape, const KvCache& cache,
                               int64_t kv_head, const float* q, float* memory)
    : math_(math),
      a_(shape),
      cache_(cache),
      kv_head_(kv_head),
      q_(q),
      memory_(memory),
      prepared_(cpu::prepared_row(reinterpret_cast<uint8_t*>(memory + 2 * shape.value_dim),
                                  cpu::q8_parts(shape.key_dim) * 32)) {
  if (!cache.quantised()) return;
  for (int64_t part = 0; part < cpu::q8_parts(a_.key_dim); ++part) {
    float numbers[32] = {};
    std::copy(q + part * 32, q + std::min(part * 32 + 32, a_.key_dim), numbers);
    prepare_block(numbers, prepared_, part);
  }
}

float AttentionQuery::product(int64_t key) const {
  if (!cache_.quantised())
    return chain_sum(a_.key_dim, q_, [&](int64_t i) { return cache_.key(kv_head_, key, i); });
  float dot = 0;
  for (int64_t part = 0; part < cpu::q8_parts(a_.key_dim); ++part) {
    int32_t products = 0;
    for (int64_t i = part * 32; i < part * 32 + 32; ++i)
      products += prepared_.q[i] * cache_.key_q(kv_head_, key, i);
    const float scale = cache_.key_scale(kv_head_, key, part * 32) * prepared_.scale[part];
    dot = std::fma(static_cast<float>(products), scale, dot);
  }
  return dot;
}

void AttentionQuery::run(int64_t begin, int64_t end, const float* sink, float* out) const {
  Softmax all = {};
  for (int64_t split = begin / kSplitKeys * kSplitKeys; split < end; split += kSplitKeys) {
    Softmax part = {-std::numeric_limits<float>::infinity(), 0,
                    split <= begin ? memory_ : memory_ + a_.value_dim};
    run_split(std::max(begin, split), std::min(end, split + kSplitKeys), &part);
    if (split <= begin) {
      all = part;
    } else {
      merge(part, &all);
    }
  }
  if (sink != nullptr) merge_sink(*sink, &all);
  for (int64_t i = 0; i < a_.value_dim; ++i) out[i] = all.values[i] / all.weight;
}

void AttentionQuery::run_split(int64_t begin, int64_t end, Softmax* part) const {
  std::fill_n(part->values, a_.value_dim, 0.0f);
  LaneSum<float> weight;
  for (int64_t step = begin / kStepKeys * kStepKeys; step < end; step += kStepKeys) {
    const int64_t first = std::max(begin, step);
    const int64_t last = std::min(end, step + kStepKeys);
    float w[kStepKeys];  // scores, then weights; of key step + i
    float most = part->most;
    for (int64_t key = first; key < last; ++key) {
      w[key - step] = product(key) * a_.scale;
      if (w[key - step] > most) most = w[key - step];
    }
    if (first > begin) {  // what was summed so far, under the new maximum
      const float factor = math_.exp(part->most - most);
      for (float& lane : weight.lane) lane *= factor;
      for (int64_t i = 0; i < a_.value_dim; ++i) part->values[i] *= factor;
    }
    part->most = most;
    for (int64_t key = first; key < last; ++key) {
      w[key - step] = math_.exp(w[key - step] - most);
      weight.add(key, w[key - step]);
    }
    for (int64_t i = 0; i < a_.value_dim; ++i) {
      for (int64_t key = first; key < last; ++key) {
        part->values[i] = std::fma(w[key - step], cache_.value(kv_head_, key, i), part->values[i]);
      }
    }
  }
  part->weight = weight.total();
}

void AttentionQuery::merge(const Softmax& part, Softmax* all) const {
  const float most = std::max(all->most, part.most);
  const float old_factor = math_.exp(all->most - most);
  const float new_factor = math_.exp(part.most - most);
  all->most = most;
  all->weight = std::fma(part.weight, new_factor, all->weight * old_factor);
  for (int64_t i = 0; i < a_.value_dim; ++i) {
    all->values[i] = std::fma(part.values[i], new_factor, all->values[i] * old_factor);
  }
}

void AttentionQuery::merge_sink(float sink, Softmax* all) const {
  const float most = std::max(all->most, sink);
  const float factor = math_.exp(all->most - most);
  all->weight = std::fma(all->weight, factor, math_.exp(sink - most));
  for (int64_t i = 0; i < a_.value_dim; ++i) all->values[i] *= factor;
}

}  // namespace colibri::cpu_generic
