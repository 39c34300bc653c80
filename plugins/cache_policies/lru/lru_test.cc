// SPDX-License-Identifier: Apache-2.0
#include "plugins/cache_policies/common/policy_under_test.h"

namespace colibri::cache_policies {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Policy = PolicyUnderTest;

TEST(Lru, TheLeastRecentlyUsedGoesFirst) {
  Policy policy({0}, 8, {4});
  policy.insert({3, 1, 2});
  policy.access({3});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(1, 2, 3));
  EXPECT_THAT(policy.victims(0, 2), ElementsAre(1, 2));
}

TEST(Lru, KeysOfOneAccessGoInAscendingOrder) {
  Policy policy({0}, 8, {4});
  policy.insert({5, 3, 1});
  policy.access({1, 5});
  EXPECT_THAT(policy.victims(0, 3), ElementsAre(3, 1, 5));
}

TEST(Lru, LeasedKeysAreSteppedOver) {
  Policy policy({0}, 130, {100});
  policy.insert({129, 64, 0});
  EXPECT_THAT(policy.victims(0, 3, {129}), ElementsAre(64, 0));
  EXPECT_THAT(policy.victims(0, 3, {0, 64, 129}), IsEmpty());
}

TEST(Lru, APrefetchIsNoUse) {
  Policy policy({0}, 8, {4});
  policy.insert({1, 2});
  policy.access({1}, true);
  EXPECT_THAT(policy.victims(0, 2), ElementsAre(1, 2));
}

TEST(Lru, ClassesAreApart) {
  Policy policy({0, 1, 0}, 4, {2, 2});
  policy.insert({8, 5, 1, 4});
  EXPECT_THAT(policy.victims(0, 9), ElementsAre(8, 1));
  EXPECT_THAT(policy.victims(1, 9), ElementsAre(5, 4));
  EXPECT_THAT(policy.victims(2, 9), IsEmpty());
}

TEST(Lru, ContradictoryCallsDoNoHarm) {
  expect_robust("lru");
}

// Each resident has the time of its last use.
class Definition {
 public:
  Definition(const Policy& policy, const std::vector<uint32_t>&) : policy_(policy) {}
  void access(uint64_t, const Keys& keys) {
    for (const uint32_t key : keys) {
      if (time_.contains(key)) insert(key);
    }
  }
  void insert(uint32_t key) { time_[key] = ++now_; }
  void evict(uint32_t key, const Keys&) { time_.erase(key); }
  void resize(uint32_t, uint32_t) {}
  Keys victim(uint32_t klass, const Keys& leased) const {
    Keys oldest;
    for (const auto& [key, time] : time_) {
      if (policy_.class_of(key) != klass || contains(leased, key)) continue;
      if (oldest.empty() || time < time_.at(oldest[0])) oldest = {key};
    }
    return oldest;
  }

 private:
  const Policy& policy_;
  std::map<uint32_t, uint64_t> time_;
  uint64_t now_ = 0;
};

TEST(Lru, RandomTracesAgreeWithTheDefinition) {
  expect_agreement<Definition>();
}

}  // namespace
}  // namespace colibri::cache_policies
