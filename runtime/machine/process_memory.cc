// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/process_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace colibri::machine {

uint64_t resident_bytes() {
  uint64_t all = 0, resident = 0;  // pages: proc(5)
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t peak_resident_bytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace colibri::machine
