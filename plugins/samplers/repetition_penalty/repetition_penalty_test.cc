// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <set>

#include "plugins/samplers/common/sampler_host.h"

namespace colibri::samplers {
namespace {

using List = std::vector<Candidate>;

TEST(RepetitionPenalty, MovesSeenTokensDownOnceEach) {
  SamplerUnderTest sampler(10, {{"penalty", 2.0}}, {{"last_n", -1}});
  ASSERT_EQ(sampler.status(), COLIBRI_OK) << sampler.error();
  for (const int32_t token : {1, 2, 2, 3}) sampler.accept(token);
  EXPECT_EQ(sampler.apply({{0, 4}, {1, 4}, {2, -4}, {3, 0}}),
            (List{{0, 4}, {1, 2}, {2, -8}, {3, 0}}));
}

TEST(RepetitionPenalty, BelowOneEncourages) {
  SamplerUnderTest sampler(10, {{"penalty", 0.5}}, {{"last_n", -1}});
  sampler.accept(0);
  sampler.accept(1);
  EXPECT_EQ(sampler.apply({{0, 4}, {1, -4}}), (List{{0, 8}, {1, -2}}));
}

TEST(RepetitionPenalty, ASortedListComesBackById) {
  SamplerUnderTest sampler(10, {{"penalty", 2.0}}, {{"last_n", -1}});
  const List list = {{7, 3}, {5, 2.5f}, {1, -1}};
  EXPECT_EQ(sampler.apply(list, true), list);  // nothing seen yet
  EXPECT_TRUE(sampler.sorted());
  sampler.accept(7);
  EXPECT_EQ(sampler.apply(list, true), (List{{1, -1}, {5, 2.5f}, {7, 1.5f}}));
  EXPECT_FALSE(sampler.sorted());
}

TEST(RepetitionPenalty, LooksAtTheLastTokensOnly) {
  for (const int64_t last_n : {0, 1, 3, 7}) {
    SamplerUnderTest sampler(8, {{"penalty", 2.0}}, {{"last_n", last_n}});
    std::deque<int32_t> window;
    uint64_t seed = 42;
    for (int step = 0; step < 200; ++step) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const auto token = static_cast<int32_t>((seed >> 33) % 8);
      sampler.accept(token);
      window.push_back(token);
      while (window.size() > static_cast<size_t>(last_n)) window.pop_front();
      List list;
      List expected;
      for (int32_t id = 0; id < 8; ++id) {
        list.push_back({id, 1});
        const bool seen = std::set<int32_t>(window.begin(), window.end()).contains(id);
        expected.push_back({id, seen ? 0.5f : 1.0f});
      }
      ASSERT_EQ(sampler.apply(list), expected) << "last_n " << last_n << ", step " << step;
    }
  }
}

TEST(RepetitionPenalty, ResetForgets) {
  for (const int64_t last_n : {-1, 3}) {
    SamplerUnderTest sampler(4, {{"penalty", 2.0}}, {{"last_n", last_n}});
    for (const int32_t token : {0, 1, 2, 3, 0}) sampler.accept(token);
    sampler.reset();
    EXPECT_EQ(sampler.apply({{0, 1}, {1, 1}}), (List{{0, 1}, {1, 1}}));
    sampler.accept(1);
    EXPECT_EQ(sampler.apply({{0, 1}, {1, 1}}), (List{{0, 1}, {1, 0.5f}}));
  }
}

TEST(RepetitionPenalty, IgnoresTokensOutsideOfTheVocabulary) {
  SamplerUnderTest sampler(4, {{"penalty", 2.0}}, {{"last_n", 2}});
  sampler.accept(-1);
  sampler.accept(4);
  EXPECT_EQ(sampler.apply({{0, 1}, {3, 1}}), (List{{0, 1}, {3, 1}}));
}

}  // namespace
}  // namespace colibri::samplers
