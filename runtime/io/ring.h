// SPDX-License-Identifier: Apache-2.0
// Ring: reads that the kernel carries out while this thread does something else (io_uring; Axboe
// 2019, "Efficient IO with io_uring").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/base/read_progress.h"
#include "runtime/base/status.h"

struct io_uring;

namespace colibri::io {

// Used by one thread. Allocates nothing after create().
class Ring {
 public:
  // depth: attempts under way at most. COLIBRI_UNSUPPORTED, with the reason, where the kernel or the
  // container around this process grants no ring.
  static Result<std::unique_ptr<Ring>> create(unsigned depth);
  // No attempt may be under way: what it reads to may be gone afterwards.
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  unsigned depth() const { return depth_; }
  unsigned under_way() const { return under_way_; }

  // Asks for what a read needs next; `tag` comes back with the answer. submit() hands all that was
  // asked for to the kernel.
  void ask(const ReadProgress& read, uint64_t tag);
  void submit();

  struct Answer {
    uint64_t tag = 0;
    int64_t result = 0;  // for ReadProgress::take()
  };
  // Some answer; without `wait`, nullopt if there is none yet. There must be something under way.
  std::optional<Answer> answer(bool wait);

 private:
  explicit Ring(unsigned depth);

  const unsigned depth_;
  std::unique_ptr<io_uring> ring_;
  unsigned under_way_ = 0;
  int failure_ = 0;              // negative error number: the kernel takes nothing any more
  std::vector<uint64_t> asked_;  // tags that the kernel does not have yet
  std::vector<Answer> made_up_;  // answers that do not come from the kernel
};

}  // namespace colibri::io
