// SPDX-License-Identifier: Apache-2.0
// Workers: threads in the background for work that blocks, such as reads.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/base/status.h"

namespace colibri::io {

// Thread-safe. Allocates nothing after create().
class Workers {
 public:
  // Work and its place in line: lives until run() has been called, by whoever added it.
  class Task {
   public:
    // worker < threads() tells those apart that run at once.
    virtual void run(unsigned worker) = 0;

   protected:
    ~Task() = default;

   private:
    friend class Workers;
    Task* next_ = nullptr;
  };

  static Result<std::unique_ptr<Workers>> create(unsigned threads);
  ~Workers();  // when all tasks have run
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  unsigned threads() const { return static_cast<unsigned>(threads_.size()); }
  // Tasks begin in the order in which they were added.
  void add(Task& task);

 private:
  Workers() = default;
  void serve(unsigned worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Task *first_ = nullptr, *last_ = nullptr;
  bool quit_ = false;
};

}  // namespace colibri::io
