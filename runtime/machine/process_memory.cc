// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/process_memory.h"

#include <sys/resource.h>

namespace colibri::machine {

uint64_t peak_resident_bytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace colibri::machine
