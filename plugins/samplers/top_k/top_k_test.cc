// SPDX-License-Identifier: Apache-2.0
#include <cfloat>
#include <limits>

#include "plugins/samplers/common/sampler_host.h"

namespace colibri::samplers {
namespace {

using List = std::vector<Candidate>;

List best(const List& list, size_t k) {
  List sorted = sorted_candidates(list);
  sorted.resize(std::min(k, sorted.size()));
  return sorted;
}

TEST(TopK, KeepsTheBestAndSortsThem) {
  for (const size_t n : {1, 2, 63, 64, 65, 1000}) {
    for (const size_t k : {1, 2, 5, 64, 999}) {
      SCOPED_TRACE(std::to_string(k) + " of " + std::to_string(n));
      SamplerUnderTest sampler(static_cast<uint32_t>(n), {}, {{"k", static_cast<int64_t>(k)}});
      const List list = random_candidates(n, n + k);
      if (k < n) {
        EXPECT_EQ(sampler.apply(list), best(list, k));
        EXPECT_TRUE(sampler.sorted());
      }
      EXPECT_EQ(sampler.apply(sorted_candidates(list), true), best(list, k));
    }
  }
}

TEST(TopK, KeepsAShorterListAsItIs) {
  SamplerUnderTest sampler(100, {}, {{"k", 2147483647}});
  const List list = random_candidates(100, 3);
  EXPECT_EQ(sampler.apply(list), list);
  EXPECT_FALSE(sampler.sorted());
  EXPECT_EQ(sampler.apply({}), List());
}

TEST(TopK, TiesGoToTheLowestId) {
  SamplerUnderTest sampler(10, {}, {{"k", 2}});
  EXPECT_EQ(sampler.apply({{2, 1}, {4, 1}, {6, 1}, {8, 1}}), (List{{2, 1}, {4, 1}}));
  EXPECT_EQ(sampler.apply({{1, -0.0f}, {2, 0.0f}, {3, 0.0f}}), (List{{1, 0.0f}, {2, 0.0f}}));
}

TEST(TopK, ExtremesKeepTheirOrderAndTheirBits) {
  SamplerUnderTest sampler(10, {}, {{"k", 5}});
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(
      sampler.apply(
          {{0, -inf}, {1, FLT_MAX}, {2, -FLT_TRUE_MIN}, {3, FLT_TRUE_MIN}, {4, -FLT_MAX}, {5, 0}}),
      (List{{1, FLT_MAX}, {3, FLT_TRUE_MIN}, {5, 0}, {2, -FLT_TRUE_MIN}, {4, -FLT_MAX}}));
}

}  // namespace
}  // namespace colibri::samplers
