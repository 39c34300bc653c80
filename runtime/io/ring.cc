// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/ring.h"

#include <liburing.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <thread>

#include "runtime/base/file.h"

namespace colibri::io {
namespace {

constexpr int kMostRefusals = 1000;  // of the kernel to take attempts now

Status not_granted(int error) {
  return unsupported("io_uring is not granted: " + std::generic_category().message(-error));
}

bool passes(int error) {
  return error == -EINTR || error == -EAGAIN || error == -EBUSY;
}

}  // namespace

Ring::Ring(unsigned depth) : depth_(depth) {
  asked_.reserve(depth);
  made_up_.reserve(depth);
}

Ring::~Ring() {
  if (ring_ != nullptr) io_uring_queue_exit(ring_.get());
}

Result<std::unique_ptr<Ring>> Ring::create(unsigned depth) {
  std::unique_ptr<Ring> made(new Ring(depth));
  auto ring = std::make_unique<io_uring>();
  if (const int error = io_uring_queue_init(depth, ring.get(), 0); error < 0) {
    return not_granted(error);
  }
  made->ring_ = std::move(ring);
  io_uring_probe* const probe = io_uring_get_probe_ring(made->ring_.get());
  const bool reads = probe != nullptr && io_uring_opcode_supported(probe, IORING_OP_READ) != 0;
  io_uring_free_probe(probe);
  if (!reads) return not_granted(-ENOSYS);
  return made;
}

void Ring::ask(const ReadProgress& read, uint64_t tag) {
  ++under_way_;
  const int64_t fault = fault_injection::read_fault(read.file(), read.offset(), read.bytes());
  io_uring_sqe* const entry = fault > 0 && failure_ == 0 ? io_uring_get_sqe(ring_.get()) : nullptr;
  if (entry == nullptr) {
    made_up_.push_back({tag, failure_ != 0 ? failure_ : fault > 0 ? -EBUSY : fault});
    return;
  }
  io_uring_prep_read(entry, read.file().descriptor(), read.to(), static_cast<unsigned>(fault),
                     read.offset());
  io_uring_sqe_set_data64(entry, tag);
  asked_.push_back(tag);
}

void Ring::submit() {
  for (int refusals = 0; !asked_.empty();) {
    const int taken = io_uring_submit(ring_.get());
    if (taken > 0) {
      asked_.erase(asked_.begin(), asked_.begin() + taken);
    } else if (passes(taken) && ++refusals < kMostRefusals) {
      std::this_thread::yield();
    } else {
      // What it did not take stands in the ring for good, so nothing may be submitted again.
      failure_ = taken < 0 ? taken : -EIO;
      for (const uint64_t tag : asked_) made_up_.push_back({tag, failure_});
      asked_.clear();
    }
  }
}

std::optional<Ring::Answer> Ring::answer(bool wait) {
  if (!made_up_.empty()) {
    const Answer answer = made_up_.back();
    made_up_.pop_back();
    --under_way_;
    return answer;
  }
  io_uring_cqe* entry = nullptr;
  for (;;) {
    const int error =
        wait ? io_uring_wait_cqe(ring_.get(), &entry) : io_uring_peek_cqe(ring_.get(), &entry);
    if (error == 0) break;
    if (!wait) return std::nullopt;
    // Reads to memory that is somebody else's as soon as this returns are under way: there is
    // nothing to do but to wait for them.
    std::this_thread::yield();
  }
  const Answer answer = {entry->user_data, entry->res};
  io_uring_cqe_seen(ring_.get(), entry);
  --under_way_;
  return answer;
}

}  // namespace colibri::io
