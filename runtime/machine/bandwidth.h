// SPDX-License-Identifier: Apache-2.0
// How fast this machine's memory can be read: the limit that decoding is compared with.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"

namespace colibri::machine {

// Bytes per second at which `threads` threads of the pool read `bytes` bytes of memory again and
// again: the best of several passes, each thread reading 1, 2, 4 or 8 streams that are far apart.
// Ask for as many bytes as the work in question reads, so that both are served by the same cache or
// by none. Takes a few passes, and more of them when one is short. Error: COLIBRI_OUT_OF_MEMORY.
// [one caller of the pool at a time]
Result<double> measure_read_bandwidth(ThreadPool& pool, unsigned threads, uint64_t bytes);

}  // namespace colibri::machine
