// SPDX-License-Identifier: Apache-2.0
// cpu_avx2: the kernel templates of cpu_common for AVX2, FMA and F16C.
#include <cstring>

#include "plugins/cpu_common/kernels.h"
#include "plugins/cpu_common/simd_avx2.h"

namespace colibri::cpu {
namespace {

constexpr Operators kOperators = operators_for<Avx2>();
constexpr colibri_kernels_0 kTable = kernel_table<kOperators>();

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.kernels/0") == 0 ? &kTable : nullptr;
}

constexpr colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "cpu_avx2", "0.1.0", nullptr, nullptr,
    get_interface};

}  // namespace
}  // namespace colibri::cpu

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu::kPlugin;
}
