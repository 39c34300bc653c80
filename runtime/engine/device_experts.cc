// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/device_experts.h"

#include <mutex>
#include <utility>

namespace colibri::engine {

Result<DeviceExperts> DeviceExperts::load(const Shape& shape, const experts::ExpertSource& source,
                                          ThreadPool& pool, plugin::DeviceQueue& queue) {
  DeviceExperts made;
  made.shape_ = shape;
  COLIBRI_ASSIGN(made.memory_, Block::allocate(&queue.device(), bytes(shape), "the experts"));
  COLIBRI_ASSIGN(const Memory staging,
                 Memory::allocate(loading_bytes(shape, pool.threads()), "reading experts"));
  Status failure;
  std::mutex mutex;
  (void)pool.run(int64_t{shape.layers} * shape.experts, pool.threads(),
                 [&](unsigned worker, int64_t begin, int64_t end) -> colibri_status {
                   std::byte* slot = staging.data() + worker * loading_bytes(shape, 1);
                   for (int64_t i = begin; i < end; ++i) {
                     const auto layer = static_cast<uint32_t>(i / shape.experts);
                     const auto expert = static_cast<uint32_t>(i % shape.experts);
                     Status status = source.load(layer, expert, slot, slot + shape.slot_bytes);
                     const std::lock_guard lock(mutex);
                     if (status.ok()) {
                       status = queue.copy_in(made.memory_.data(), offset(shape, layer, expert),
                                              slot, shape.slot_bytes);
                     }
                     if (status.ok()) continue;
                     if (failure.ok()) failure = std::move(status);
                     return failure.code();
                   }
                   return COLIBRI_OK;
                 });
  if (!failure.ok()) return failure;
  COLIBRI_TRY(queue.wait());
  return made;
}

}  // namespace colibri::engine
