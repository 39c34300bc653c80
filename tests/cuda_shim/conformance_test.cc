// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels answer the questions that every kernel plugin is asked with the reference's bytes.
#include <gtest/gtest.h>

#include <map>

#include "tests/conformance/kernel_conformance.h"
#include "tests/cuda_shim/on_cpu.h"

namespace colibri::cuda {
namespace {

TEST(CudaKernelsTest, AgreeWithTheReference) {
  const colibri_kernels_0 table = table_on_cpu();
  ASSERT_EQ(table.numerics, COLIBRI_NUMERICS_IDENTICAL);  // so that bytes are compared
  const colibri_host host = conformance::bare_host();
  std::map<std::string, int64_t> compared;
  for (const auto& report : conformance::check_kernels(table, host, conformance::Extent::kQuick)) {
    compared[report.name] = report.compared;
    for (size_t i = 0; i < report.failures.size() && i < 10; ++i)
      ADD_FAILURE() << report.name << ": " << report.failures[i];
    std::printf("%s: %lld compared, %lld not offered, %zu failed\n", report.name.c_str(),
                static_cast<long long>(report.compared), static_cast<long long>(report.unsupported),
                report.failures.size());
  }
  for (const char* name : {"embed", "norm", "quantize_rows", "grouped_matmul", "rope", "kv_write",
                           "attention", "mla_attention", "router", "combine"}) {
    EXPECT_GT(compared[name], 5) << name;
  }
}

}  // namespace
}  // namespace colibri::cuda
