// SPDX-License-Identifier: Apache-2.0
// Numbers for sampling: the ChaCha20 stream of a seed, the same on every machine.
#pragma once

#include <cstdint>

namespace colibri::engine {

// Draw i of a seed does not depend on the draws before it: the seed, little-endian, is the first 8
// bytes of the key, i the first 8 of the nonce, and 53 bits of the first 8 bytes of the stream (RFC
// 8439) are the fraction. Used by one thread.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  double next();  // uniform in [0, 1)

 private:
  uint64_t seed_;
  uint64_t draw_ = 0;
};

}  // namespace colibri::engine
