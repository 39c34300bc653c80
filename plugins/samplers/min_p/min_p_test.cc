// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "plugins/samplers/common/sampler_host.h"

namespace colibri::samplers {
namespace {

using List = std::vector<Candidate>;

TEST(MinP, KeepsWhatIsNotFarBelowTheBestInTheOrderItHad) {
  for (const double p : {0.01, 0.05, 0.3, 0.7}) {
    SamplerUnderTest sampler(1000, {{"p", p}});
    const List list = random_candidates(1000, 5);
    const float best = sorted_candidates(list)[0].logit;
    const auto kept = [&](List from) {
      std::erase_if(from, [&](const Candidate& c) { return std::exp(double{c.logit} - best) < p; });
      return from;
    };
    EXPECT_EQ(sampler.apply(list), kept(list));
    EXPECT_FALSE(sampler.sorted());
    EXPECT_EQ(sampler.apply(sorted_candidates(list), true), kept(sorted_candidates(list)));
    EXPECT_TRUE(sampler.sorted());
  }
}

TEST(MinP, ZeroKeepsAllAndOneKeepsTheBest) {
  SamplerUnderTest all(4, {{"p", 0.0}});
  EXPECT_EQ(all.apply({{0, 1}, {1, -1e30f}}), (List{{0, 1}, {1, -1e30f}}));
  SamplerUnderTest one(4, {{"p", 1.0}});
  EXPECT_EQ(one.apply({{0, 1}, {1, 2}, {2, 2}, {3, 0}}), (List{{1, 2}, {2, 2}}));
}

TEST(MinP, ShortListsAndMinusInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  SamplerUnderTest sampler(4, {{"p", 0.1}});
  EXPECT_EQ(sampler.apply({}), List());
  EXPECT_EQ(sampler.apply({{2, -7}}), (List{{2, -7}}));
  EXPECT_EQ(sampler.apply({{0, -inf}, {1, 0}}), (List{{1, 0}}));
}

}  // namespace
}  // namespace colibri::samplers
