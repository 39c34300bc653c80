// SPDX-License-Identifier: Apache-2.0
#include <cblas.h>

#include <cstring>

#include "colibri/plugin.h"
#include "plugins/cpu_blas/library_matmul.h"

namespace colibri::cpu_blas {
namespace {

struct OpenBlas {
  static void multiply(const Product& p) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(p.m),
                static_cast<blasint>(p.n), static_cast<blasint>(p.k), 1, p.a,
                static_cast<blasint>(p.lda), p.b, static_cast<blasint>(p.ldb), 0, p.c,
                static_cast<blasint>(p.ldc));
  }
};

constexpr colibri_kernels_0 kTable = table_of<OpenBlas>();

// The threads are the host's.
colibri_status open(const colibri_host*, colibri_error*) {
  openblas_set_num_threads(1);
  return COLIBRI_OK;
}

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.kernels/0") == 0 ? &kTable : nullptr;
}

constexpr colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "cpu_blas", "0.1.0", open, nullptr, get_interface};

}  // namespace
}  // namespace colibri::cpu_blas

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu_blas::kPlugin;
}
