// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/simd_avx512.h"

#include "plugins/cpu_common/kernel_plugin.h"
#include "plugins/cpu_common/kernels.h"

namespace colibri::cpu {
namespace {

constexpr Operators kOperators = operators_for<Avx512>();
constexpr colibri_plugin kPlugin = kernel_plugin<kOperators>("cpu_avx512", "0.1.0");

}  // namespace
}  // namespace colibri::cpu

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu::kPlugin;
}
