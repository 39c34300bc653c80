// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/read_ahead.h"

#include <utility>

namespace colibri::experts {

Result<std::unique_ptr<ReadAhead>> ReadAhead::create(
    uint64_t block_bytes, std::vector<std::unique_ptr<LoadQueue>> queues) {
  std::unique_ptr<ReadAhead> made(new ReadAhead);
  COLIBRI_ASSIGN(made->memory_, Memory::allocate(queues.size() * block_bytes,
                                                 "reading experts ahead (experts.prefetch)"));
  made->blocks_.resize(queues.size());
  for (size_t i = 0; i < queues.size(); ++i) {
    made->blocks_[i].memory = made->memory_.data() + i * block_bytes;
    made->blocks_[i].queue = std::move(queues[i]);
  }
  return made;
}

ReadAhead::~ReadAhead() {
  for (Block& block : blocks_) {
    while (!block.queue->empty()) (void)block.queue->take();
  }
}

ReadAhead::Block* ReadAhead::find(uint32_t key) {
  for (Block& block : blocks_) {
    if (block.state == State::kGuess && block.key == key) return &block;
  }
  return nullptr;
}

bool ReadAhead::start(uint32_t key, uint32_t layer, uint32_t expert) {
  Block* chosen = nullptr;
  for (Block& block : blocks_) {
    if (block.state == State::kTaken) continue;
    if (block.state == State::kGuess && !block.queue->ready()) continue;
    // A free one before any guess.
    const auto rank = [](const Block& b) { return b.state == State::kFree ? 0 : 1 + b.number; };
    if (chosen == nullptr || rank(block) < rank(*chosen)) chosen = &block;
  }
  if (chosen == nullptr) return false;
  if (!chosen->queue->empty()) (void)chosen->queue->take();
  chosen->state = State::kGuess;
  chosen->key = key;
  chosen->number = reads_++;
  chosen->queue->start({layer, expert, chosen->memory});
  // Under the lock: from here on another thread may find it and wait for it.
  chosen->queue->submit();
  return true;
}

void ReadAhead::take(Block& block, std::byte*& memory) {
  std::swap(block.memory, memory);
  block.state = State::kTaken;
  ++taken_;
}

}  // namespace colibri::experts
