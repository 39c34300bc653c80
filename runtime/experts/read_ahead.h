// SPDX-License-Identifier: Apache-2.0
// ReadAhead: experts that are read before a layer asks for them, while the disk has nothing else to
// do, into blocks of memory beside the slots. Whoever claims a slot for one of them takes the block
// for the slot's memory instead of reading. So what is resident when, and what is a hit, are as
// without it; only reads begin earlier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/experts/load_queue.h"

namespace colibri::experts {

// All calls with the store's lock.
class ReadAhead {
 public:
  // Free: nobody needs its bytes. Guess: they are, or will be, those of `key`. Taken: its memory is
  // a slot's, and whoever took it waits for its read, without the lock.
  enum class State : uint8_t { kFree, kGuess, kTaken };
  struct Block {
    State state = State::kFree;
    uint32_t key = 0;
    uint64_t number = 0;  // of the read, ascending
    std::byte* memory = nullptr;
    std::unique_ptr<LoadQueue> queue;  // of this one read
  };
  // A block for each queue.
  static Result<std::unique_ptr<ReadAhead>> create(uint64_t block_bytes,
                                                   std::vector<std::unique_ptr<LoadQueue>> queues);
  // Waits for the reads on their way.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The guess of that key, or null.
  Block* find(uint32_t key);
  // Reads an expert to a block that is free or whose guess, the oldest, has arrived and was not
  // needed; false = there is none.
  bool start(uint32_t key, uint32_t layer, uint32_t expert);
  // Exchanges the block's memory for another's.
  void take(Block& block, std::byte*& memory);
  // Its read has ended.
  static void give_back(Block& block) { block.state = State::kFree; }
  // Reads that were started, and blocks that were taken.
  uint64_t reads() const { return reads_; }
  uint64_t taken() const { return taken_; }

 private:
  ReadAhead() = default;
  Memory memory_;
  std::vector<Block> blocks_;
  uint64_t reads_ = 0, taken_ = 0;
};

}  // namespace colibri::experts
