// SPDX-License-Identifier: Apache-2.0
// Instruction-set features by the names of /proc/cpuinfo, and how they are found.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace colibri::machine {

using FeatureSet = std::set<std::string, std::less<>>;

// The features that this processor has and that the operating system keeps the registers of. [any]
FeatureSet cpu_features();

// The architecture this program was built for: "x86_64" or "aarch64". [any]
std::string_view architecture();

// The features of an x86 processor, from the answers of CPUID (leaf, subleaf -> eax, ebx, ecx, edx)
// and XCR0 (0 where XGETBV does not exist). A feature whose registers XCR0 does not save is left
// out: using it would fault or lose data.
struct CpuidAnswer {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
using Cpuid = std::function<CpuidAnswer(uint32_t leaf, uint32_t subleaf)>;
FeatureSet x86_features(const Cpuid& cpuid, uint64_t xcr0);

// The features of an Arm processor, from the kernel's AT_HWCAP and AT_HWCAP2.
FeatureSet arm_features(uint64_t hwcap, uint64_t hwcap2);

// The features left when nothing above a level is used. Levels of x86_64: baseline, sse4_2, avx2,
// avx512, avx512_vnni; of aarch64: baseline, dotprod, i8mm. Errors: COLIBRI_INVALID_ARGUMENT for
// any other, with the known ones.
Result<FeatureSet> limited(const FeatureSet& features, std::string_view architecture,
                           std::string_view level);

}  // namespace colibri::machine
