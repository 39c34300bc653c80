// SPDX-License-Identifier: Apache-2.0
// LoadQueue: experts of one visitor on their way into slots. They may arrive in any order and are
// taken in the order in which they were started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/experts/source.h"
#include "runtime/io/workers.h"

namespace colibri::experts {

struct Load {
  uint32_t layer = 0, expert = 0;
  std::byte* slot = nullptr;
};

// Threads that load whole experts, for all visitors of a store.
struct Loaders {
  Memory staging;
  uint64_t staging_bytes = 0;  // of each worker
  std::unique_ptr<io::Workers> workers;
};

// Used by one thread. Allocates nothing after its creation.
class LoadQueue {
 public:
  // Loads that may be in the queue at once.
  static constexpr size_t kMost = 32;

  // Reads by io_uring, with up to `depth` on their way: each expert of the source has an extent.
  // What arrives has still to be checked.
  static Result<std::unique_ptr<LoadQueue>> on_ring(const ExpertSource& source, unsigned depth);
  // Loads on threads; what arrives has been checked.
  static std::unique_ptr<LoadQueue> on_workers(const ExpertSource& source, Loaders& loaders);
  // The queue must be empty: slots are written to until then.
  virtual ~LoadQueue() = default;

  // Puts loads at the end of the queue; submit() gets them going.
  virtual void start(const Load& load) = 0;
  virtual void submit() = 0;
  // Whether the first in the queue has arrived, that is, whether take() would not wait.
  virtual bool ready() = 0;
  // Takes the first out of the queue and says how it went.
  virtual Status take() = 0;
  bool empty() const { return first_ == end_; }

 protected:
  static size_t place(uint64_t number) { return number % kMost; }
  uint64_t first_ = 0, end_ = 0;  // numbers of the loads in the queue
};

}  // namespace colibri::experts
