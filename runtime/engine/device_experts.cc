// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/device_experts.h"

#include <mutex>
#include <utility>

namespace colibri::engine {

Result<DeviceExperts> DeviceExperts::load(const Shape& shape, const experts::ExpertSource& source,
                                          experts::PolicyPlugin policy, ThreadPool& pool,
                                          plugin::DeviceQueue& queue) {
  DeviceExperts made;
  made.slot_bytes_ = shape.slot_bytes;
  COLIBRI_ASSIGN(made.tier_,
                 experts::Tier::create(shape, shape.places, shape.shared, std::move(policy)));
  COLIBRI_ASSIGN(made.memory_,
                 Block::allocate(&queue.device(), made.offset(made.tier_->slots()), "the experts"));
  COLIBRI_TRY(made.load_fixed(shape, source, pool, queue));
  return made;
}

Status DeviceExperts::load_fixed(const Shape& shape, const experts::ExpertSource& source,
                                 ThreadPool& pool, plugin::DeviceQueue& queue) const {
  std::vector<uint32_t> layers;
  for (uint32_t layer = 0; layer < shape.layers; ++layer) {
    if (shape.places[layer] == experts::ExpertPlace::kDevice) layers.push_back(layer);
  }
  if (layers.empty()) return {};
  const uint64_t per_worker = shape.slot_bytes + shape.staging_bytes;
  COLIBRI_ASSIGN(const Memory staging,
                 Memory::allocate(pool.threads() * per_worker, "reading experts"));
  Status failure;
  std::mutex mutex;
  (void)pool.run(static_cast<int64_t>(layers.size()) * shape.experts, pool.threads(),
                 [&](unsigned worker, int64_t begin, int64_t end) -> colibri_status {
                   std::byte* slot = staging.data() + worker * per_worker;
                   for (int64_t i = begin; i < end; ++i) {
                     const uint32_t layer = layers[static_cast<size_t>(i / shape.experts)];
                     const auto expert = static_cast<uint32_t>(i % shape.experts);
                     Status status = source.load(layer, expert, slot, slot + shape.slot_bytes);
                     const std::lock_guard lock(mutex);
                     if (status.ok()) {
                       status = queue.copy_in(memory(), offset(tier_->fixed_slot(layer, expert)),
                                              slot, shape.slot_bytes);
                     }
                     if (status.ok()) continue;
                     if (failure.ok()) failure = std::move(status);
                     return failure.code();
                   }
                   return COLIBRI_OK;
                 });
  if (!failure.ok()) return failure;
  return queue.wait();
}

}  // namespace colibri::engine
