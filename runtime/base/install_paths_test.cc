// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/install_paths.h"

#include <gtest/gtest.h>

namespace colibri {
namespace {

TEST(InstallPaths, ABuildFolderLooksLikeAnInstallation) {
  const std::filesystem::path prefix = install_prefix();
  ASSERT_FALSE(prefix.empty());
  EXPECT_TRUE(prefix.is_absolute());
  EXPECT_TRUE(std::filesystem::is_regular_file(architecture_dir() / "mixtral.yaml"));
  EXPECT_EQ(plugin_dir(), prefix / "lib" / "colibri" / "plugins");
}

}  // namespace
}  // namespace colibri
