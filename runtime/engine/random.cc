// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/random.h"

#include <sodium/crypto_stream_chacha20.h>

namespace colibri::engine {
namespace {

void store(uint64_t value, unsigned char* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<unsigned char>(value >> (8 * i));
}

}  // namespace

double Random::next() {
  unsigned char key[crypto_stream_chacha20_ietf_KEYBYTES] = {};
  unsigned char nonce[crypto_stream_chacha20_ietf_NONCEBYTES] = {};
  unsigned char stream[8];
  store(seed_, key);
  store(draw_++, nonce);
  crypto_stream_chacha20_ietf(stream, sizeof(stream), nonce, key);
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= uint64_t{stream[i]} << (8 * i);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace colibri::engine
