// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "plugins/samplers/common/sampler_host.h"

namespace colibri::samplers {
namespace {

using List = std::vector<Candidate>;

// The definition, in double and with libm.
List nucleus(const List& list, double p) {
  const List sorted = sorted_candidates(list);
  double total = 0;
  for (const Candidate& c : sorted) total += std::exp(double{c.logit} - sorted[0].logit);
  List kept;
  double sum = 0;
  for (const Candidate& c : sorted) {
    if (!kept.empty() && sum >= p * total) break;
    sum += std::exp(double{c.logit} - sorted[0].logit);
    kept.push_back(c);
  }
  return kept;
}

TEST(TopP, KeepsTheSmallestSetThatReachesTheMass) {
  for (const size_t n : {1, 2, 3, 64, 65, 300, 5000}) {
    for (const double p : {0.001, 0.1, 0.37, 0.5, 0.83, 0.99, 0.9999}) {
      SCOPED_TRACE(std::to_string(p) + " of " + std::to_string(n));
      SamplerUnderTest sampler(static_cast<uint32_t>(n), {{"p", p}});
      const List list = random_candidates(n, n);
      EXPECT_EQ(sampler.apply(list), nucleus(list, p));
      EXPECT_TRUE(sampler.sorted());
      EXPECT_EQ(sampler.apply(sorted_candidates(list), true), nucleus(list, p));
    }
  }
}

TEST(TopP, TheCandidateThatReachesTheMassIsKept) {
  SamplerUnderTest half(4, {{"p", 0.5}});
  EXPECT_EQ(half.apply({{0, 0}, {1, 0}, {2, 0}, {3, 0}}), (List{{0, 0}, {1, 0}}));
  SamplerUnderTest more(4, {{"p", 0.51}});
  EXPECT_EQ(more.apply({{0, 0}, {1, 0}, {2, 0}, {3, 0}}), (List{{0, 0}, {1, 0}, {2, 0}}));
}

TEST(TopP, ZeroKeepsOneAndOneKeepsAll) {
  const List list = random_candidates(100, 9);
  SamplerUnderTest none(100, {{"p", 0.0}});
  EXPECT_EQ(none.apply(list), List{sorted_candidates(list)[0]});
  SamplerUnderTest all(100, {{"p", 1.0}});
  EXPECT_EQ(all.apply(list), list);
}

TEST(TopP, ShortListsAndMinusInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  SamplerUnderTest sampler(4, {{"p", 0.9}});
  EXPECT_EQ(sampler.apply({{3, -5}}), (List{{3, -5}}));
  EXPECT_EQ(sampler.apply({}), List());
  EXPECT_EQ(sampler.apply({{0, -inf}, {1, 2}, {2, -inf}}), (List{{1, 2}}));
}

}  // namespace
}  // namespace colibri::samplers
