// SPDX-License-Identifier: Apache-2.0
#include <cfloat>

#include "plugins/samplers/common/sampler_host.h"

namespace colibri::samplers {
namespace {

using List = std::vector<Candidate>;

TEST(Temperature, DividesEveryLogit) {
  SamplerUnderTest sampler(10, {{"value", 0.5}});
  ASSERT_EQ(sampler.status(), COLIBRI_OK) << sampler.error();
  EXPECT_EQ(sampler.apply({{0, 1.5f}, {3, -2}, {4, 0}}), (List{{0, 3}, {3, -4}, {4, 0}}));
}

TEST(Temperature, OneChangesNothing) {
  SamplerUnderTest sampler(500, {{"value", 1.0}});
  const List list = random_candidates(500, 1);
  EXPECT_EQ(sampler.apply(list), list);
}

TEST(Temperature, LogitsStayFinite) {
  SamplerUnderTest sampler(2, {{"value", 0.001}});
  EXPECT_EQ(sampler.apply({{0, FLT_MAX}, {1, -FLT_MAX}}), (List{{0, FLT_MAX}, {1, -FLT_MAX}}));
}

TEST(Temperature, LogitsThatRoundToOneAreOrderedById) {
  SamplerUnderTest sampler(10, {{"value", 100.0}});
  const float tiny = FLT_TRUE_MIN;  // 2, 1 and 0 of them become 0
  const List out = sampler.apply({{7, 1}, {9, 2 * tiny}, {5, tiny}, {1, 0}}, true);
  EXPECT_TRUE(sampler.sorted());
  EXPECT_EQ(out, (List{{7, 0.01f}, {1, 0}, {5, 0}, {9, 0}}));
}

TEST(Temperature, AnEmptyListStaysEmpty) {
  SamplerUnderTest sampler(10, {{"value", 2.0}});
  EXPECT_EQ(sampler.apply({}), List());
  EXPECT_EQ(sampler.apply({}, true), List());
}

TEST(Temperature, NeedsItsOption) {
  SamplerUnderTest sampler(10, {});
  EXPECT_EQ(sampler.status(), COLIBRI_NOT_FOUND);
  EXPECT_EQ(sampler.error(), "no option value");
}

}  // namespace
}  // namespace colibri::samplers
