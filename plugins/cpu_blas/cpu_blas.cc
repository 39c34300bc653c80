// SPDX-License-Identifier: Apache-2.0
#include <cblas.h>

#include <cstdio>

#include "colibri/plugin.h"
#include "plugins/common/entry.h"
#include "plugins/cpu_blas/library_matmul.h"
#include "plugins/cpu_common/frontend.h"

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

// The threads are the host's, and many of them call at once. A library built without threads gives
// all callers the same workspace, so that products come out wrong; one built for OpenMP takes the
// number of threads from each caller.
colibri_status open(const colibri_host*, colibri_error* error) {
  if (openblas_get_parallel() != OPENBLAS_THREAD) {
    // No std::string: its exceptions would bring an initialiser of the C++ library with them.
    char text[sizeof(error->text)];
    std::snprintf(text, sizeof(text),
                  "this OpenBLAS (%s) cannot be called from several threads; install one that is "
                  "built for pthreads (Debian: libopenblas0-pthread)",
                  openblas_get_config());
    return cpu::fail(error, COLIBRI_UNSUPPORTED, text);
  }
  openblas_set_num_threads(1);
  return COLIBRI_OK;
}

constexpr colibri_plugin kPlugin = plugin::entry<kTable>("cpu_blas", "0.1.0", open);

}  // namespace
}  // namespace colibri::cpu_blas

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::cpu_blas::kPlugin;
}
