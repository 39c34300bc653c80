// SPDX-License-Identifier: Apache-2.0
// cpu_avx2: the kernel templates of cpu_common for AVX2, FMA and F16C.
#include "plugins/cpu_common/kernel_plugin.h"
#include "plugins/cpu_common/kernels.h"
#include "plugins/cpu_common/simd_avx2.h"

namespace colibri::cpu {
namespace {

constexpr Operators kOperators = operators_for<Avx2>();
constexpr colibri_plugin kPlugin = kernel_plugin<kOperators>("cpu_avx2", "0.1.0");

}  // namespace
}  // namespace colibri::cpu

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu::kPlugin;
}
