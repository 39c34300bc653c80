// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/cpu_features.h"

#include <map>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace colibri::machine {
namespace {

// Register state that the operating system saves, as bits of XCR0 (Intel SDM volume 1,
// section 13.3).
constexpr uint64_t kNone = 0;
constexpr uint64_t kYmm = 0x6;   // SSE and AVX
constexpr uint64_t kZmm = 0xE6;  // and opmask, upper halves of ZMM, ZMM16-31

enum Register { kEbx, kEcx, kEdx, kEax };

struct X86Feature {
  const char* name;
  uint32_t leaf, subleaf;
  Register where;
  uint32_t bit;
  uint64_t state;
};

// Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E. Names of Linux arch/x86 cpufeatures. AMX
// is not here: a process must ask the kernel for it, which nothing of ours does.
constexpr X86Feature kX86[] = {
    {"cmov", 1, 0, kEdx, 15, kNone},         {"cx8", 1, 0, kEdx, 8, kNone},
    {"fxsr", 1, 0, kEdx, 24, kNone},         {"mmx", 1, 0, kEdx, 23, kNone},
    {"sse", 1, 0, kEdx, 25, kNone},          {"sse2", 1, 0, kEdx, 26, kNone},
    {"pni", 1, 0, kEcx, 0, kNone},           {"pclmulqdq", 1, 0, kEcx, 1, kNone},
    {"ssse3", 1, 0, kEcx, 9, kNone},         {"fma", 1, 0, kEcx, 12, kYmm},
    {"cx16", 1, 0, kEcx, 13, kNone},         {"sse4_1", 1, 0, kEcx, 19, kNone},
    {"sse4_2", 1, 0, kEcx, 20, kNone},       {"movbe", 1, 0, kEcx, 22, kNone},
    {"popcnt", 1, 0, kEcx, 23, kNone},       {"aes", 1, 0, kEcx, 25, kNone},
    {"avx", 1, 0, kEcx, 28, kYmm},           {"f16c", 1, 0, kEcx, 29, kYmm},
    {"bmi1", 7, 0, kEbx, 3, kNone},          {"avx2", 7, 0, kEbx, 5, kYmm},
    {"bmi2", 7, 0, kEbx, 8, kNone},          {"avx512f", 7, 0, kEbx, 16, kZmm},
    {"avx512dq", 7, 0, kEbx, 17, kZmm},      {"avx512ifma", 7, 0, kEbx, 21, kZmm},
    {"avx512cd", 7, 0, kEbx, 28, kZmm},      {"sha_ni", 7, 0, kEbx, 29, kNone},
    {"avx512bw", 7, 0, kEbx, 30, kZmm},      {"avx512vl", 7, 0, kEbx, 31, kZmm},
    {"avx512vbmi", 7, 0, kEcx, 1, kZmm},     {"avx512_vbmi2", 7, 0, kEcx, 6, kZmm},
    {"gfni", 7, 0, kEcx, 8, kNone},          {"vaes", 7, 0, kEcx, 9, kYmm},
    {"vpclmulqdq", 7, 0, kEcx, 10, kYmm},    {"avx512_vnni", 7, 0, kEcx, 11, kZmm},
    {"avx512_bitalg", 7, 0, kEcx, 12, kZmm}, {"avx512_vpopcntdq", 7, 0, kEcx, 14, kZmm},
    {"avx512_fp16", 7, 0, kEdx, 23, kZmm},   {"avx_vnni", 7, 1, kEax, 4, kYmm},
    {"avx512_bf16", 7, 1, kEax, 5, kZmm},    {"lahf_lm", 0x80000001, 0, kEcx, 0, kNone},
    {"abm", 0x80000001, 0, kEcx, 5, kNone},
};

struct ArmFeature {
  const char* name;
  int word;  // 1 = AT_HWCAP, 2 = AT_HWCAP2
  int bit;
};

// Linux arch/arm64/include/uapi/asm/hwcap.h. The kernel reports only what it also saves.
constexpr ArmFeature kArm[] = {
    {"fp", 1, 0},       {"asimd", 1, 1},    {"aes", 1, 3},       {"pmull", 1, 4},
    {"sha1", 1, 5},     {"sha2", 1, 6},     {"crc32", 1, 7},     {"atomics", 1, 8},
    {"fphp", 1, 9},     {"asimdhp", 1, 10}, {"asimdrdm", 1, 12}, {"jscvt", 1, 13},
    {"fcma", 1, 14},    {"lrcpc", 1, 15},   {"sha3", 1, 17},     {"sha512", 1, 21},
    {"asimddp", 1, 20}, {"sve", 1, 22},     {"asimdfhm", 1, 23}, {"sve2", 2, 1},
    {"svei8mm", 2, 9},  {"svebf16", 2, 12}, {"i8mm", 2, 13},     {"bf16", 2, 14},
};

struct Level {
  std::string_view name;
  std::vector<std::string_view> adds;  // to the level before it
};

// x86_64: the levels of the psABI (v1 to v4), and VNNI behind them.
const std::vector<Level>& levels(std::string_view architecture) {
  static const std::vector<Level> kX86Levels = {
      {"baseline", {"cmov", "cx8", "fxsr", "mmx", "sse", "sse2"}},
      {"sse4_2", {"cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"}},
      {"avx2", {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}},
      {"avx512", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
      {"avx512_vnni", {"avx512_vnni"}},
  };
  static const std::vector<Level> kArmLevels = {
      {"baseline", {"fp", "asimd"}},
      {"dotprod", {"asimddp"}},
      {"i8mm", {"i8mm"}},
  };
  static const std::vector<Level> kNoLevels;
  if (architecture == "x86_64") return kX86Levels;
  if (architecture == "aarch64") return kArmLevels;
  return kNoLevels;
}

#if defined(__x86_64__)
uint64_t read_xcr0() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}
#endif

}  // namespace

FeatureSet x86_features(const Cpuid& read_cpuid, uint64_t xcr0) {
  std::map<std::pair<uint32_t, uint32_t>, CpuidAnswer>
      answers;  // a virtual machine takes 0.1 ms for each
  const auto cpuid = [&](uint32_t leaf, uint32_t subleaf) {
    const auto [found, added] = answers.try_emplace({leaf, subleaf});
    if (added) found->second = read_cpuid(leaf, subleaf);
    return found->second;
  };
  const uint32_t last_basic = cpuid(0, 0).eax;
  const uint32_t last_extended = cpuid(0x80000000, 0).eax;
  FeatureSet features;
  for (const X86Feature& feature : kX86) {
    if (feature.leaf > (feature.leaf < 0x80000000 ? last_basic : last_extended)) continue;
    if (feature.subleaf > 0 && feature.subleaf > cpuid(feature.leaf, 0).eax) continue;
    if ((xcr0 & feature.state) != feature.state) continue;
    const CpuidAnswer answer = cpuid(feature.leaf, feature.subleaf);
    const uint32_t words[] = {answer.ebx, answer.ecx, answer.edx, answer.eax};
    if ((words[feature.where] >> feature.bit & 1) != 0) features.insert(feature.name);
  }
  return features;
}

FeatureSet arm_features(uint64_t hwcap, uint64_t hwcap2) {
  FeatureSet features;
  for (const ArmFeature& feature : kArm) {
    const uint64_t word = feature.word == 1 ? hwcap : hwcap2;
    if ((word >> feature.bit & 1) != 0) features.insert(feature.name);
  }
  return features;
}

#if defined(__x86_64__)

std::string_view architecture() {
  return "x86_64";
}

FeatureSet cpu_features() {
  const Cpuid cpuid = [](uint32_t leaf, uint32_t subleaf) {
    CpuidAnswer answer;
    __cpuid_count(leaf, subleaf, answer.eax, answer.ebx, answer.ecx, answer.edx);
    return answer;
  };
  constexpr uint32_t kOsxsave = 1u << 27;  // leaf 1 ecx: XGETBV may be used
  const bool has_xgetbv = (cpuid(1, 0).ecx & kOsxsave) != 0;
  return x86_features(cpuid, has_xgetbv ? read_xcr0() : 0);
}

#elif defined(__aarch64__)

std::string_view architecture() {
  return "aarch64";
}

FeatureSet cpu_features() {
  return arm_features(getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}

#else
#error "Colibri runs on x86_64 and aarch64; add the features of this architecture here"
#endif

Result<FeatureSet> limited(const FeatureSet& features, std::string_view architecture,
                           std::string_view level) {
  FeatureSet allowed;
  std::string known;
  for (const Level& step : levels(architecture)) {
    allowed.insert(step.adds.begin(), step.adds.end());
    if (step.name == level) {
      FeatureSet left;
      for (const std::string& feature : features) {
        if (allowed.contains(feature)) left.insert(feature);
      }
      return left;
    }
    known += (known.empty() ? "" : ", ") + std::string(step.name);
  }
  return invalid_argument("unknown instruction-set level '" + std::string(level) + "'; those of " +
                          std::string(architecture) + ": " + known);
}

}  // namespace colibri::machine
