// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
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

bool Visit::in_progress() const {
  return !demand_.held.empty() || !demand_.waiting.empty() || !demand_.missing.empty() ||
         !demand_.loading.empty();
}

void Visit::list_held() {
  for (const int32_t slot : demand_.held) {
    wave_.push_back({store_.residency_->key_in(slot) % store_.shape_.experts, store_.data(slot)});
  }
}

void Visit::start_claimed() {
  while (on_way_.size() < demand_.loading.size()) start(demand_.loading[on_way_.size()], layer_);
}

void Visit::start(int32_t slot, uint32_t layer) {
  on_way_.push_back(
      {layer, store_.residency_->key_in(slot) % store_.shape_.experts, store_.data(slot)});
  queue_->start(on_way_.back());
}

void Visit::start_ahead() {
  if (!layer_ahead_ || store_.blocked_ > 0) return;
  const size_t before = demand_.ahead.size();
  store_.residency_->lend(demand_, *layer_ahead_, LoadQueue::kMost - on_way_.size());
  for (size_t i = before; i < demand_.ahead.size(); ++i) start(demand_.ahead[i], *layer_ahead_);
}

void Visit::keep_foreseen(uint32_t layer, std::span<const int32_t> experts,
                          std::unique_lock<std::mutex>& lock) {
  Residency& residency = *store_.residency_;
  if (residency.foreseen(demand_, layer, experts)) return;
  // A slot is lent until its read has ended, and reads end in the order of the queue.
  lock.unlock();
  const auto waiting_since = Clock::now();
  const size_t all = on_way_.size();
  std::array<bool, Residency::kMostAhead> failed = {};
  for (size_t i = 0; i < all; ++i) failed[i] = !queue_->take().ok();
  lock.lock();
  store_.times_.waiting += Clock::now() - waiting_since;
  // One that failed is read again by whoever asks for it.
  for (size_t i = all; i-- > 0;) {
    if (failed[i]) residency.take_back(demand_, i);
  }
  residency.keep_foreseen(demand_, layer, experts);
  on_way_.clear();
  for (const int32_t slot : demand_.ahead) {
    on_way_.push_back({layer, residency.key_in(slot) % store_.shape_.experts, store_.data(slot)});
  }
  taken_ = on_way_.size();
  store_.give_back();
  store_.changed_.notify_all();
}

Status Visit::begin(uint64_t step, uint32_t layer, std::span<const int32_t> experts) {
  if (in_progress()) end();
  layer_ahead_.reset();
  layer_ = layer;
  Status status;
  {
    std::unique_lock lock(store_.mutex_);
    keep_foreseen(layer, experts, lock);
    const auto started = Clock::now();
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
    if (status.ok()) start_ahead();
    store_.give_back();
    store_.times_.leasing += Clock::now() - started;
    if (released) store_.changed_.notify_all();
    if (status.ok() && demand_.loading.empty() && demand_.waiting.empty()) {
      status = wait_for_others(lock);
    }
    list_held();
  }
  if (!status.ok()) return fail(std::move(status));
  queue_->submit();
  if (!wave_.empty() || (demand_.loading.empty() && demand_.waiting.empty())) {
    return std::span<const Lease>(wave_);
  }

  const auto waiting_since = Clock::now();
  const Result<size_t> arrived = take_arrived();
  if (!arrived.ok()) return fail(arrived.status());
  if (status = check(*arrived, pool, threads); !status.ok()) return fail(std::move(status));
  {
    const std::lock_guard lock(store_.mutex_);
    const size_t hits = hits_beside(*arrived);
    store_.residency_->loaded(demand_, *arrived);
    Residency::hold(demand_, hits);
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
    if (!demand_.held.empty() || !demand_.loading.empty()) return {};
    const auto waiting_since = Clock::now();
    ++store_.blocked_;
    store_.changed_.wait(lock);
    --store_.blocked_;
    store_.times_.waiting += Clock::now() - waiting_since;
  }
  return {};
}

size_t Visit::most_at_once() const {
  // Slots for experts that have none yet come free when those that are taken now have computed:
  // half of the slots stay behind, so that reads go on meanwhile.
  const size_t all = demand_.loading.size();
  return demand_.missing.empty() ? all : (all + 1) / 2;
}

Result<size_t> Visit::take_arrived() {
  const size_t most = most_at_once();
  size_t arrived = std::min(taken_, most);
  taken_ -= arrived;
  while (arrived < most) {
    const bool wait = arrived == 0 && demand_.waiting.empty();
    if (!wait && !queue_->ready()) break;
    COLIBRI_TRY(queue_->take());
    ++arrived;
  }
  return arrived;
}

size_t Visit::hits_beside(size_t arrived) const {
  const size_t to_come = demand_.loading.size() - arrived + demand_.missing.size();
  if (to_come == 0 || demand_.loading.empty()) return demand_.waiting.size();
  const size_t waves = 1 + (to_come - 1) / most_at_once() + (arrived > 0 ? 1 : 0);
  return (demand_.waiting.size() + waves - 1) / waves;
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
  layer_ahead_.reset();
  if (!in_progress() && demand_.ahead.empty()) return;
  // Slots must not be written to when they are others'.
  queue_->submit();
  while (!queue_->empty()) (void)queue_->take();
  on_way_.clear();
  taken_ = 0;
  {
    const std::lock_guard lock(store_.mutex_);
    store_.residency_->end(demand_);
    store_.residency_->take_back_all(demand_);
    store_.give_back();
  }
  store_.changed_.notify_all();
}

}  // namespace colibri::experts
