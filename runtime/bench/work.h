// SPDX-License-Identifier: Apache-2.0
// What the mathematics of a model ask of a machine: the bytes to read and the operations to do.
#pragma once

#include <cstdint>

#include "runtime/engine/plan.h"

namespace colibri::bench {

// Operations: a product and the sum it goes to are two. Only products of matrices and attention
// count.
struct Work {
  double bytes = 0;  // of weights, keys and values that must be read
  double int8 = 0;   // operations of products with weights that have an integer product
  double f32 = 0;    // of all others
};

// Keys that queries at positions [first, end) see in a layer, of each query together; a window of 0
// is none.
double visible_keys(int64_t window, int64_t first, int64_t end);

// A prompt of `tokens` tokens with the logits of its last. Its bytes are left at 0: how often a
// weight is read depends on the chunks, and is not what limits a prompt.
Work prefill_work(const engine::Plan& plan, int64_t tokens);
// `tokens` tokens, each with its logits, one after another behind `before` tokens.
Work decode_work(const engine::Plan& plan, int64_t before, int64_t tokens);

}  // namespace colibri::bench
