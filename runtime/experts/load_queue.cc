// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/load_queue.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "runtime/io/ring.h"

namespace colibri::experts {
namespace {

class RingQueue final : public LoadQueue {
 public:
  RingQueue(const ExpertSource& source, std::unique_ptr<io::Ring> ring)
      : source_(source), ring_(std::move(ring)) {}

  void start(const Load& load) override {
    const auto extent = source_.extent(load.layer, load.expert);
    Read& read = reads_[place(end_++)];
    read.progress = {*extent->file, extent->offset, load.slot, extent->bytes};
    read.ended = false;
    read.status = {};
  }

  void submit() override {
    while (asked_ < end_ && ring_->under_way() < ring_->depth()) {
      ring_->ask(reads_[place(asked_)].progress, asked_);
      ++asked_;
    }
    ring_->submit();
  }

  bool ready() override {
    while (!front().ended && ring_->under_way() > 0 && answer(false)) {
    }
    return front().ended;
  }

  Status take() override {
    while (!front().ended) answer(true);
    return std::move(reads_[place(first_++)].status);
  }

 private:
  struct Read {
    ReadProgress progress;
    bool ended = false;
    Status status;
  };

  Read& front() { return reads_[place(first_)]; }

  // Takes one answer, if there is one, and asks for what it leaves.
  bool answer(bool wait) {
    const auto answer = ring_->answer(wait);
    if (!answer) return false;
    Read& read = reads_[place(answer->tag)];
    read.status = read.progress.take(answer->result);
    read.ended = !read.status.ok() || read.progress.done();
    if (!read.ended) ring_->ask(read.progress, answer->tag);
    submit();
    return true;
  }

  const ExpertSource& source_;
  const std::unique_ptr<io::Ring> ring_;
  std::array<Read, kMost> reads_;
  uint64_t asked_ = 0;  // the first that the ring has not been asked for
};

class WorkerQueue final : public LoadQueue {
 public:
  WorkerQueue(const ExpertSource& source, Loaders& loaders) : source_(source), loaders_(loaders) {
    for (Job& job : jobs_) job.queue = this;
  }

  void start(const Load& load) override {
    Job& job = jobs_[place(end_++)];
    job.load = load;
    job.ended = false;
  }

  void submit() override {
    for (; added_ < end_; ++added_) loaders_.workers->add(jobs_[place(added_)]);
  }

  bool ready() override {
    const std::lock_guard lock(mutex_);
    return jobs_[place(first_)].ended;
  }

  Status take() override {
    std::unique_lock lock(mutex_);
    Job& job = jobs_[place(first_++)];
    arrived_.wait(lock, [&] { return job.ended; });
    return std::move(job.status);
  }

 private:
  struct Job final : io::Workers::Task {
    void run(unsigned worker) override {
      std::byte* staging = queue->loaders_.staging.data() + worker * queue->loaders_.staging_bytes;
      Status result = queue->source_.load(load.layer, load.expert, load.slot, staging);
      const std::lock_guard lock(queue->mutex_);
      status = std::move(result);
      ended = true;
      // With the lock held: afterwards the visitor may take the queue down.
      queue->arrived_.notify_one();
    }
    WorkerQueue* queue = nullptr;
    Load load;
    bool ended = false;
    Status status;
  };

  const ExpertSource& source_;
  Loaders& loaders_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::array<Job, kMost> jobs_;
  uint64_t added_ = 0;  // the first that no worker knows of
};

}  // namespace

Result<std::unique_ptr<LoadQueue>> LoadQueue::on_ring(const ExpertSource& source, unsigned depth) {
  COLIBRI_ASSIGN(auto ring, io::Ring::create(depth));
  return std::unique_ptr<LoadQueue>(new RingQueue(source, std::move(ring)));
}

std::unique_ptr<LoadQueue> LoadQueue::on_workers(const ExpertSource& source, Loaders& loaders) {
  return std::make_unique<WorkerQueue>(source, loaders);
}

}  // namespace colibri::experts
