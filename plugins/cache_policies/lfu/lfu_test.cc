// SPDX-License-Identifier: Apache-2.0
#include "plugins/cache_policies/common/policy_under_test.h"

namespace colibri::cache_policies {
namespace {

using ::testing::ElementsAre;
using Policy = PolicyUnderTest;

Options options(int64_t half_life, bool remember) {
  return {{"half_life", half_life}, {"remember", remember}};
}

TEST(Lfu, TheLeastOftenUsedGoesFirst) {
  Policy policy({0}, 8, {4}, options(0, false));
  policy.insert({1, 2, 3});
  policy.access({1, 3});
  policy.access({1});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(2, 3, 1));
  EXPECT_THAT(policy.victims(0, 8, {2}), ElementsAre(3, 1));
}

TEST(Lfu, AmongEqualCountsTheOneThatReachedItFirst) {
  Policy policy({0}, 8, {4}, options(0, false));
  policy.insert({5, 3, 1});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(5, 3, 1));
  policy.access({3});
  policy.access({5});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(1, 3, 5));
}

TEST(Lfu, CountsAreHalvedEveryHalfLife) {
  Policy policy({0}, 8, {4}, options(10, true));
  policy.access_at(0, {1, 2});
  policy.insert({1, 2});
  for (uint64_t step = 1; step < 8; ++step) policy.access_at(step, {1});  // 8 uses
  policy.access_at(12, {2});                                              // 4 against 0 + 1
  policy.access_at(13, {2});
  EXPECT_THAT(policy.victims(0, 2), ElementsAre(2, 1));
  policy.access_at(45, {2});  // three more halvings: 0 against 0 + 1
  EXPECT_THAT(policy.victims(0, 2), ElementsAre(1, 2));
}

TEST(Lfu, RemembersUsesOfWhatIsNotThere) {
  for (const bool remember : {true, false}) {
    Policy policy({0}, 8, {4}, options(0, remember));
    for (int i = 0; i < 3; ++i) policy.access({1});
    policy.access({2});
    policy.insert({1, 2});
    policy.evict(1);
    policy.insert(1);
    policy.access({2});
    EXPECT_THAT(policy.victims(0, 2), remember ? ElementsAre(2, 1) : ElementsAre(1, 2));
  }
}

TEST(Lfu, CountsEndSomewhere) {
  Policy policy({0}, 8, {4}, options(0, true));
  policy.insert({1, 2});
  for (int i = 0; i < 5000; ++i) policy.access({1});
  for (int i = 0; i < 4200; ++i) policy.access({2});
  EXPECT_THAT(policy.victims(0, 2), ElementsAre(1, 2));
}

TEST(Lfu, ContradictoryCallsDoNoHarm) {
  expect_robust("lfu", options(3, true));
}

// A list of the residents, sorted by their counts.
template <uint64_t kHalfLife, bool kRemember>
class Definition {
 public:
  Definition(const Policy& policy, const std::vector<uint32_t>&) : policy_(policy) {}
  void access(uint64_t step, const Keys& keys) {
    for (; kHalfLife > 0 && age_ < step / kHalfLife; ++age_) {
      for (auto& [key, count] : count_) count /= 2;
    }
    for (const uint32_t key : keys) {
      const bool resident = contains(order_, key);
      if (!resident && !kRemember) continue;
      ++count_[key];
      if (resident) put_last(key);
    }
  }
  void insert(uint32_t key) {
    if (!kRemember) count_[key] = 1;
    put_last(key);
  }
  void evict(uint32_t key, const Keys&) { std::erase(order_, key); }
  void resize(uint32_t, uint32_t) {}
  Keys victim(uint32_t klass, const Keys& leased) const {
    for (const uint32_t key : order_) {
      if (policy_.class_of(key) == klass && !contains(leased, key)) return {key};
    }
    return {};
  }

 private:
  void put_last(uint32_t key) {
    std::erase(order_, key);
    order_.push_back(key);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](uint32_t a, uint32_t b) { return count_[a] < count_[b]; });
  }

  const Policy& policy_;
  Keys order_;
  std::map<uint32_t, uint32_t> count_;
  uint64_t age_ = 0;
};

TEST(Lfu, RandomTracesAgreeWithTheDefinition) {
  expect_agreement<Definition<0, false>>(options(0, false));
  expect_agreement<Definition<0, true>>(options(0, true));
  expect_agreement<Definition<7, false>>(options(7, false));
  expect_agreement<Definition<50, true>>(options(50, true));
}

}  // namespace
}  // namespace colibri::cache_policies
