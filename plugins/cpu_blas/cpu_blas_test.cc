// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "colibri/plugin.h"

namespace {

int parallel = 0;

}  // namespace

// Stands before the library's own: what the program exports is found first.
extern "C" __attribute__((visibility("default"))) int openblas_get_parallel(void) {
  return parallel;
}

namespace colibri {
namespace {

TEST(CpuBlasTest, OpensOnlyWithALibraryThatSeveralThreadsMayCall) {
  void* file = dlopen(COLIBRI_CPU_BLAS, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(file, nullptr) << dlerror();
  const auto entry =
      reinterpret_cast<decltype(&colibri_plugin_v1)>(dlsym(file, "colibri_plugin_v1"));
  ASSERT_NE(entry, nullptr);
  for (const int built_for : {0, 1, 2}) {  // no threads, pthreads, OpenMP
    parallel = built_for;
    colibri_error error = {sizeof(error), COLIBRI_OK, ""};
    const colibri_status status = entry()->open(nullptr, &error);
    EXPECT_EQ(status, built_for == 1 ? COLIBRI_OK : COLIBRI_UNSUPPORTED);
    const bool names_package =
        std::string(error.text).find("libopenblas0-pthread") != std::string::npos;
    EXPECT_EQ(names_package, built_for != 1) << error.text;
  }
  dlclose(file);
}

}  // namespace
}  // namespace colibri
