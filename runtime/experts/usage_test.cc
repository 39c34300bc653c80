// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/usage.h"

#include <gtest/gtest.h>

#include <vector>

namespace colibri::experts {
namespace {

TEST(Usage, MostUsedFirst) {
  const std::vector<uint64_t> uses = {3, 0, 7, 3, 0, 12};
  EXPECT_EQ(usage_text({2, 3, 1}, uses),
            "colibri-expert-usage 1\nlayers 2\nexperts 3\n1 2 12\n0 2 7\n0 0 3\n1 0 3\n");
}

}  // namespace
}  // namespace colibri::experts
