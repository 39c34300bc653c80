// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/policy.h"

#include <utility>
#include <vector>

namespace colibri::experts {

Result<Policy> Policy::create(PolicyPlugin plugin, const RoutingShape& routing, uint32_t slots) {
  // Every slot has one size here: one class.
  const std::vector<uint8_t> class_of_layer(routing.layers, 0);
  colibri_cache_shape shape = {};
  shape.struct_size = sizeof(shape);
  shape.layers = routing.layers;
  shape.experts = routing.experts;
  shape.top_k = routing.top_k;
  shape.classes = 1;
  shape.class_of_layer = class_of_layer.data();
  shape.slots = &slots;

  Policy policy;
  policy.plugin_ = std::move(plugin);
  const PolicyPlugin& chosen = policy.plugin_;
  const uint64_t bytes = chosen.table->state_bytes(&shape, chosen.host);
  COLIBRI_ASSIGN(policy.state_, Memory::allocate(align_up(bytes == 0 ? 1 : bytes),
                                                 "the state of cache policy " + chosen.id));
  colibri_error error = empty_error();
  const colibri_status code =
      chosen.table->create(&shape, chosen.host, policy.state_.data(), &error);
  COLIBRI_TRY(from_c(code, error, "creating its state").at("cache policy " + chosen.id));
  return policy;
}

void Policy::on_access(uint64_t step, std::span<const uint32_t> keys, const uint8_t* resident) {
  plugin_.table->on_access(state_.data(), step, keys.data(), resident,
                           static_cast<uint32_t>(keys.size()), 0);
}

void Policy::on_insert(uint32_t key) {
  plugin_.table->on_insert(state_.data(), key);
}

void Policy::on_evict(uint32_t key) {
  plugin_.table->on_evict(state_.data(), key);
}

Status Policy::resize(uint32_t slots) {
  const colibri_status code = plugin_.table->resize(state_.data(), 0, slots);
  if (code == COLIBRI_OK) return {};
  return {code, "cache policy " + plugin_.id + ": taking " + std::to_string(slots) +
                    " slots failed with status " + std::to_string(code)};
}

Result<std::optional<uint32_t>> Policy::victim(std::span<const uint64_t> evictable) {
  uint32_t key = 0;
  const uint32_t chosen = plugin_.table->victims(state_.data(), 0, evictable.data(), 1, &key);
  if (chosen == 0) return std::optional<uint32_t>();
  if (chosen > 1 || key / 64 >= evictable.size() || (evictable[key / 64] >> (key % 64) & 1) == 0) {
    return internal_error("cache policy " + plugin_.id + ": chose expert key " +
                          std::to_string(key) + ", which is not one it may drop now");
  }
  return std::optional<uint32_t>(key);
}

}  // namespace colibri::experts
