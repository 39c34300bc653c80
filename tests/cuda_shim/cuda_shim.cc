// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_shim/cuda_shim.h"

#include <boost/context/fiber.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace colibri::cuda_shim {
namespace {

namespace context = boost::context;

constexpr size_t kWarp = 32;

enum class State { kRuns, kInWarp, kInBlock, kDone };

// A thread of the block. Its fiber is made once and runs body after body.
struct Thread {
  context::fiber own, scheduler;
  Here here;
  State state = State::kDone;
  uint64_t given[2] = {};  // to exchange(), which takes turns: a quick lane may give again before
                           // a slow one has read
  unsigned turn = 0;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "cuda_shim: %s\n", what);
  std::abort();
}

class Block {
 public:
  static Block& of_this_thread() {
    static thread_local Block block;
    return block;
  }

  void run(dim3 number, dim3 size, FunctionRef<void()> body) {
    body_ = &body;
    count_ = size_t{size.x} * size.y * size.z;
    while (threads_.size() < count_) add_thread();
    for (size_t i = 0; i < count_; ++i) {
      const auto at = static_cast<unsigned>(i);
      threads_[i]->here = {number, dim3(at % size.x, at / size.x % size.y, at / size.x / size.y)};
      threads_[i]->state = State::kRuns;
    }
    do {
      for (size_t warp = 0; warp < count_; warp += kWarp) run_warp(warp);
    } while (pass_barrier());
  }

  Thread& current() { return *current_; }

  void pause(State state) {
    Thread& thread = *current_;
    thread.state = state;
    thread.scheduler = std::move(thread.scheduler).resume();
  }

  uint64_t exchange(uint64_t bits, unsigned lane) {
    Thread& thread = *current_;
    const unsigned turn = thread.turn;
    thread.turn ^= 1;
    thread.given[turn] = bits;
    pause(State::kInWarp);
    const size_t other = thread.here.thread.x / kWarp * kWarp + lane;  // blocks are rows of threads
    if (lane >= kWarp || other >= count_) fail("a lane outside of the warp");
    return threads_[other]->given[turn];
  }

 private:
  void add_thread() {
    threads_.push_back(std::make_unique<Thread>());
    Thread* thread = threads_.back().get();
    thread->own = context::fiber([this, thread](context::fiber&& scheduler) {
      thread->scheduler = std::move(scheduler);
      for (;;) {
        (*body_)();
        pause(State::kDone);
      }
      return std::move(thread->scheduler);
    });
  }

  // Until each of its threads waits for the block or is done.
  void run_warp(size_t begin) {
    const size_t end = std::min(begin + kWarp, count_);
    for (;;) {
      size_t waiting = 0;
      for (size_t i = begin; i < end; ++i) {
        if (threads_[i]->state == State::kRuns) {
          current_ = threads_[i].get();
          current_->own = std::move(current_->own).resume();
        }
        waiting += threads_[i]->state == State::kInWarp ? 1 : 0;
      }
      if (waiting == 0) return;
      if (waiting != end - begin) fail("threads of a warp wait for one that does something else");
      for (size_t i = begin; i < end; ++i) threads_[i]->state = State::kRuns;
    }
  }

  // False when all threads are done.
  bool pass_barrier() {
    size_t waiting = 0;
    for (size_t i = 0; i < count_; ++i) waiting += threads_[i]->state == State::kInBlock ? 1 : 0;
    if (waiting == 0) return false;
    if (waiting != count_) fail("threads of a block wait for one that has ended");
    for (size_t i = 0; i < count_; ++i) threads_[i]->state = State::kRuns;
    return true;
  }

  std::vector<std::unique_ptr<Thread>> threads_;
  size_t count_ = 0;
  Thread* current_ = nullptr;
  FunctionRef<void()>* body_ = nullptr;
};

}  // namespace

const Here& here() {
  return Block::of_this_thread().current().here;
}

void run(dim3 grid, dim3 block, FunctionRef<void()> body) {
  Block& threads = Block::of_this_thread();
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) threads.run(dim3(x, y, z), block, body);
    }
  }
}

void sync_block() {
  Block::of_this_thread().pause(State::kInBlock);
}
void sync_warp() {
  Block::of_this_thread().pause(State::kInWarp);
}
unsigned own_lane() {
  return here().thread.x % kWarp;
}
uint64_t exchange(uint64_t bits, unsigned lane) {
  return Block::of_this_thread().exchange(bits, lane);
}

}  // namespace colibri::cuda_shim
