// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/workers.h"

#include <exception>
#include <string>

namespace colibri::io {

Result<std::unique_ptr<Workers>> Workers::create(unsigned threads) {
  std::unique_ptr<Workers> made(new Workers);
  try {
    made->threads_.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) {
      made->threads_.emplace_back([workers = made.get(), i] { workers->serve(i); });
    }
  } catch (const std::exception& error) {
    return out_of_memory("cannot start " + std::to_string(threads) +
                         " threads that read: " + error.what() + "; lower experts.io.depth");
  }
  return made;
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::add(Task& task) {
  {
    const std::lock_guard lock(mutex_);
    task.next_ = nullptr;
    (last_ == nullptr ? first_ : last_->next_) = &task;
    last_ = &task;
  }
  changed_.notify_one();
}

void Workers::serve(unsigned worker) {
  for (;;) {
    Task* task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return first_ != nullptr || quit_; });
      if (first_ == nullptr) return;
      task = first_;
      first_ = task->next_;
      if (first_ == nullptr) last_ = nullptr;
    }
    task->run(worker);
  }
}

}  // namespace colibri::io
