// SPDX-License-Identifier: Apache-2.0
#include <dnnl.h>
#include <omp.h>

#include "colibri/plugin.h"
#include "plugins/common/entry.h"
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

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("cpu_onednn", "0.1.0");

}  // namespace
}  // namespace colibri::cpu_blas

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu_blas::kPlugin;
}
