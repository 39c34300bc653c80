// SPDX-License-Identifier: Apache-2.0
#include <dnnl.h>
#include <omp.h>

#include <cstring>

#include "colibri/plugin.h"
#include "plugins/cpu_blas/library_matmul.h"

namespace colibri::cpu_blas {
namespace {

struct OneDnn {
  static void multiply(const Product& p) {
    omp_set_num_threads(1);  // of the calling thread: the threads are the host's
    dnnl_sgemm('N', 'N', p.m, p.n, p.k, 1, p.a, p.lda, p.b, p.ldb, 0, p.c, p.ldc);
  }
};

constexpr colibri_kernels_0 kTable = table_of<OneDnn>();

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.kernels/0") == 0 ? &kTable : nullptr;
}

constexpr colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "cpu_onednn", "0.1.0", nullptr, nullptr,
    get_interface};

}  // namespace
}  // namespace colibri::cpu_blas

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu_blas::kPlugin;
}
