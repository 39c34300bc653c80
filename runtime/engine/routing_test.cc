// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace colibri::engine {
namespace {

using testing::ElementsAre;

TEST(Routing, EveryPairGetsOneRowOfItsExpert) {
  Routing routing(8, 2, 5);
  const int32_t chosen[] = {3, 1, 1, 4, 3, 4};
  for (int repeat = 0; repeat < 2; ++repeat) {
    routing.begin(chosen, 3);
    EXPECT_THAT(routing.distinct(), ElementsAre(1, 3, 4));
    routing.begin_wave();
    routing.add(3);
    routing.add(1);
    EXPECT_EQ(routing.groups(), 2);
    EXPECT_THAT(std::vector<int64_t>(routing.group_begin(), routing.group_begin() + 3),
                ElementsAre(0, 2, 4));
    routing.begin_wave();
    routing.add(4);
    EXPECT_THAT(std::vector<int64_t>(routing.group_begin(), routing.group_begin() + 2),
                ElementsAre(4, 6));
    EXPECT_THAT(std::vector<int32_t>(routing.token_of_row(), routing.token_of_row() + 6),
                ElementsAre(0, 2, 0, 1, 1, 2));
    EXPECT_THAT(std::vector<int32_t>(routing.row_of_pair(), routing.row_of_pair() + 6),
                ElementsAre(0, 2, 3, 4, 1, 5));
  }
}

}  // namespace
}  // namespace colibri::engine
