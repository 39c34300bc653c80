// SPDX-License-Identifier: Apache-2.0
// What this process has in memory: resident bytes, as the kernel counts them.
#pragma once

#include <cstdint>

namespace colibri::machine {

uint64_t resident_bytes();       // now; 0 where /proc is not mounted [any]
uint64_t peak_resident_bytes();  // the most since the process began [any]

}  // namespace colibri::machine
