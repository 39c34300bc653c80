// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "runtime/experts/store.h"

namespace colibri::experts {

Result<std::unique_ptr<Visit>> Visit::create(Store& store) {
  COLIBRI_ASSIGN(auto queue, store.create_queue(store.reading_.depth));
  return std::unique_ptr<Visit>(new Visit(store, std::move(queue)));
}

Visit::Visit(Store& store, std::unique_ptr<LoadQueue> queue)
    : store_(store), queue_(std::move(queue)), demand_(store.shape()) {
  on_way_.reserve(LoadQueue::kMost);
  wave_.reserve(store.shape().experts);
  expected_.reserve(store.shape().experts);
}

void Visit::list_held() {
  for (const int32_t slot : demand_.held) {
    wave_.push_back(
        {store_.residency_->key_in(slot) % store_.shape_.experts, store_.memory_of(slot)});
  }
}

void Visit::start_claimed() {
  while (on_way_.size() < demand_.loading.size()) {
    const int32_t slot = demand_.loading[on_way_.size()];
    const uint32_t key = store_.residency_->key_in(slot);
    ReadAhead::Block* const ahead = store_.ahead_ == nullptr ? nullptr : store_.ahead_->find(key);
    if (ahead != nullptr) store_.ahead_->take(*ahead, store_.memory_of(slot));
    on_way_.push_back({{layer_, key % store_.shape_.experts, store_.memory_of(slot)}, ahead});
    if (ahead != nullptr) continue;
    queue_->start(on_way_.back());
    ++store_.reads_;
  }
}

void Visit::settle_arrived(size_t n) {
  for (size_t i = 0; i < n; ++i) {
    OnWay& load = on_way_[i];
    if (load.settled) continue;
    load.settled = true;
    if (load.ahead == nullptr) {
      --store_.reads_;
    } else {
      ReadAhead::give_back(*load.ahead);
    }
  }
}

void Visit::expect(uint32_t layer, std::span<const int32_t> experts) {
  if (!guesses_) return;
  expected_layer_ = layer;
  expected_.assign(experts.begin(), experts.end());
  if (on_way_.empty()) read_ahead();
}

void Visit::read_ahead() {
  if (expected_.empty()) return;
  const std::lock_guard lock(store_.mutex_);
  // What the disk has to do it does for somebody who waits.
  if (store_.reads_ > 0) return;
  for (const int32_t expert : expected_) {
    const auto number = static_cast<uint32_t>(expert);
    const uint32_t key = expected_layer_ * store_.shape_.experts + number;
    if (store_.residency_->has(key) || store_.ahead_->find(key) != nullptr) continue;
    if (!store_.ahead_->start(key, expected_layer_, number)) break;
  }
  expected_.clear();
}

Status Visit::begin(uint64_t step, uint32_t layer, std::span<const int32_t> experts) {
  end();
  layer_ = layer;
  expected_.clear();
  const auto started = Clock::now();
  Status status;
  {
    const std::lock_guard lock(store_.mutex_);
    status = store_.residency_->begin(demand_, step, layer, experts);
    guesses_ = store_.ahead_ != nullptr && !store_.residency_->holds_all();
    if (guesses_ && demand_.missing.empty()) {
      // All have a slot, so nothing depends on their order: first those that may be there already.
      std::partition(demand_.loading.begin(), demand_.loading.end(), [&](int32_t slot) {
        return store_.ahead_->find(store_.residency_->key_in(slot)) != nullptr;
      });
    }
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
  if (*arrived == on_way_.size() && demand_.missing.empty() && !expected_.empty()) {
    {
      const std::lock_guard lock(store_.mutex_);
      settle_arrived(*arrived);
    }
    read_ahead();
  }
  if (status = check(*arrived, pool, threads); !status.ok()) return fail(std::move(status));
  {
    const std::lock_guard lock(store_.mutex_);
    settle_arrived(*arrived);
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
    OnWay& load = on_way_[arrived];
    Status status = queue_of(load).take();
    if (!status.ok() && load.ahead != nullptr) {
      // It failed when nobody needed it; that is no reason to fail now.
      queue_of(load).start(load);
      queue_of(load).submit();
      status = queue_of(load).take();
    }
    COLIBRI_TRY(std::move(status));
    ++arrived;
  } while (arrived < most && queue_of(on_way_[arrived]).ready());
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
  for (const OnWay& load : on_way_) {
    while (!load.settled && load.ahead != nullptr && !load.ahead->queue->empty()) {
      (void)load.ahead->queue->take();
    }
  }
  {
    const std::lock_guard lock(store_.mutex_);
    settle_arrived(on_way_.size());
    store_.residency_->end(demand_);
    store_.give_back();
  }
  on_way_.clear();
  store_.changed_.notify_all();
}

}  // namespace colibri::experts
