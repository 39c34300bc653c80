// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "runtime/experts/store.h"

namespace colibri::experts {

Result<std::unique_ptr<Visit>> Visit::create(Store& store) {
  if (!store.reading_.ring) {
    return std::unique_ptr<Visit>(
        new Visit(store, LoadQueue::on_workers(*store.source_, store.loaders_)));
  }
  COLIBRI_ASSIGN(auto queue, LoadQueue::on_ring(*store.source_, store.reading_.depth));
  return std::unique_ptr<Visit>(new Visit(store, std::move(queue)));
}

Visit::Visit(Store& store, std::unique_ptr<LoadQueue> queue)
    : store_(store), queue_(std::move(queue)), demand_(store.shape()) {
  on_way_.reserve(LoadQueue::kMost);
  wave_.reserve(store.shape().experts);
}

void Visit::list_held() {
  for (const int32_t slot : demand_.held) {
    wave_.push_back({store_.residency_->key_in(slot) % store_.shape_.experts, store_.data(slot)});
  }
}

void Visit::start_claimed() {
  while (on_way_.size() < demand_.loading.size()) {
    const int32_t slot = demand_.loading[on_way_.size()];
    on_way_.push_back(
        {layer_, store_.residency_->key_in(slot) % store_.shape_.experts, store_.data(slot)});
    queue_->start(on_way_.back());
  }
}

Status Visit::begin(uint64_t step, uint32_t layer, std::span<const int32_t> experts) {
  end();
  layer_ = layer;
  const auto started = Clock::now();
  Status status;
  {
    const std::lock_guard lock(store_.mutex_);
    status = store_.residency_->begin(demand_, step, layer, experts);
    start_claimed();
    list_held();
    store_.times_.leasing += Clock::now() - started;
  }
  if (!status.ok()) return fail(std::move(status));
  queue_->submit();
  fresh_ = !wave_.empty();
  return {};
}

Result<std::span<const Visit::Lease>> Visit::next(ThreadPool& pool, unsigned threads) {
  if (std::exchange(fresh_, false)) return std::span<const Lease>(wave_);
  wave_.clear();
  Status status;
  {
    std::unique_lock lock(store_.mutex_);
    const auto started = Clock::now();
    const bool released = !demand_.held.empty();
    status = store_.residency_->release(demand_);
    start_claimed();
    store_.give_back();
    store_.times_.leasing += Clock::now() - started;
    if (released) store_.changed_.notify_all();
    if (status.ok() && on_way_.empty()) status = wait_for_others(lock);
    list_held();
  }
  if (!status.ok()) return fail(std::move(status));
  queue_->submit();
  if (!wave_.empty() || on_way_.empty()) return std::span<const Lease>(wave_);

  const auto waiting_since = Clock::now();
  const Result<size_t> arrived = take_arrived();
  if (!arrived.ok()) return fail(arrived.status());
  if (status = check(*arrived, pool, threads); !status.ok()) return fail(std::move(status));
  {
    const std::lock_guard lock(store_.mutex_);
    store_.residency_->loaded(demand_, *arrived);
    store_.times_.waiting += Clock::now() - waiting_since;
    list_held();
  }
  on_way_.erase(on_way_.begin(), on_way_.begin() + static_cast<std::ptrdiff_t>(*arrived));
  store_.changed_.notify_all();
  return std::span<const Lease>(wave_);
}

Status Visit::wait_for_others(std::unique_lock<std::mutex>& lock) {
  while (!demand_.missing.empty()) {
    COLIBRI_TRY(store_.residency_->retry(demand_));
    start_claimed();
    if (!demand_.held.empty() || !on_way_.empty()) return {};
    const auto waiting_since = Clock::now();
    store_.changed_.wait(lock);
    store_.times_.waiting += Clock::now() - waiting_since;
  }
  return {};
}

Result<size_t> Visit::take_arrived() {
  // Slots for experts that have none yet come free when those that are taken now have computed:
  // half of the slots stay behind, so that reads go on meanwhile.
  const size_t most =
      demand_.missing.empty() ? on_way_.size() : std::max<size_t>(on_way_.size() / 2, 1);
  size_t arrived = 0;
  do {
    COLIBRI_TRY(queue_->take());
    ++arrived;
  } while (arrived < most && !queue_->empty() && queue_->ready());
  return arrived;
}

Status Visit::check(size_t arrived, ThreadPool& pool, unsigned threads) const {
  if (!store_.reading_.ring) return {};  // the workers did
  Status failure;
  std::mutex mutex;
  const ExpertSource& source = *store_.source_;
  const auto parts = static_cast<int64_t>(source.parts());
  (void)pool.run(static_cast<int64_t>(arrived) * parts, threads,
                 [&](unsigned, int64_t begin, int64_t end) -> colibri_status {
                   for (int64_t i = begin; i < end; ++i) {
                     const Load& load = on_way_[static_cast<size_t>(i / parts)];
                     Status status = source.check(load.layer, load.expert,
                                                  static_cast<uint32_t>(i % parts), load.slot);
                     if (status.ok()) continue;
                     const std::lock_guard lock(mutex);
                     if (failure.ok()) failure = std::move(status);
                     return failure.code();
                   }
                   return COLIBRI_OK;
                 });
  return failure;
}

Status Visit::fail(Status status) {
  end();
  return status;
}

void Visit::end() {
  wave_.clear();
  fresh_ = false;
  if (demand_.held.empty() && demand_.missing.empty() && demand_.loading.empty()) return;
  // Slots must not be written to when they are others'.
  queue_->submit();
  while (!queue_->empty()) (void)queue_->take();
  on_way_.clear();
  {
    const std::lock_guard lock(store_.mutex_);
    store_.residency_->end(demand_);
    store_.give_back();
  }
  store_.changed_.notify_all();
}

}  // namespace colibri::experts
