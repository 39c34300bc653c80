// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "plugins/cache_policies/common/policy_under_test.h"

namespace colibri::cache_policies {
namespace {

using ::testing::ElementsAre;
using Policy = PolicyUnderTest;

TEST(S3Fifo, WhatIsUsedOnceLeavesBeforeTheMainQueue) {
  Policy policy({0}, 40, {20});  // two in the small queue
  for (uint32_t key = 0; key < 20; ++key) policy.insert(key);
  // 0 and 1 are in the small queue, all others filled the main one.
  EXPECT_THAT(policy.victims(0, 3), ElementsAre(0, 1, 2));
  policy.access({0});
  EXPECT_THAT(policy.victims(0, 3), ElementsAre(0, 1, 2));
  policy.access({0});  // twice: moves to the main queue
  EXPECT_THAT(policy.victims(0, 1), ElementsAre(1));
}

TEST(S3Fifo, WhatReturnsWhileRememberedEntersTheMainQueue) {
  Policy policy({0}, 40, {20});
  for (uint32_t key = 0; key < 20; ++key) policy.insert(key);
  policy.evict(0);
  policy.access({0});
  policy.insert(0);
  policy.evict(1);
  policy.insert(30);  // new: the small queue
  EXPECT_THAT(policy.victims(0, 1), ElementsAre(2)) << "the main queue is longer than its share";
  policy.evict(2);
  policy.insert(31);
  EXPECT_THAT(policy.victims(0, 2), ElementsAre(30, 31));
}

TEST(S3Fifo, UsesKeepAResidentInTheMainQueue) {
  Policy policy({0}, 40, {20});
  for (uint32_t key = 0; key < 20; ++key) policy.insert(key);
  policy.evict(0);
  policy.evict(1);
  policy.access({2, 3});
  policy.access({3});
  Keys order = policy.victims(0, 20);
  EXPECT_EQ(order[0], 4u);
  EXPECT_EQ(order[16], 2u);
  EXPECT_EQ(order[17], 3u);
}

TEST(S3Fifo, ContradictoryCallsDoNoHarm) {
  expect_robust("s3fifo");
}

// The queues as the paper has them; what is leased and has no uses stays where it is.
class Definition {
 public:
  Definition(const Policy& policy, const std::vector<uint32_t>& slots) : policy_(policy) {
    for (uint32_t klass = 0; klass < slots.size(); ++klass) {
      queues_.emplace_back();
      resize(klass, slots[klass]);
    }
  }
  void access(uint64_t, const Keys& keys) {
    for (const uint32_t key : keys) {
      Queues& q = queues_[policy_.class_of(key)];
      if (contains(q.ghost, key)) {
        std::erase(q.ghost, key);
        returning_.insert(key);
      } else if (contains(q.small, key) || contains(q.main, key)) {
        q.uses[key] = std::min(q.uses[key] + 1, 3);
      }
    }
  }
  void insert(uint32_t key) {
    Queues& q = queues_[policy_.class_of(key)];
    const bool returns = returning_.erase(key) + std::erase(q.ghost, key) > 0;
    const bool small_full = !q.dropped_any && q.small.size() >= q.small_share;
    (returns || small_full ? q.main : q.small).push_back(key);
    q.uses[key] = 0;
  }
  void resize(uint32_t klass, uint32_t slots) {
    Queues& q = queues_[klass];
    q.small_share = std::max(1u, slots / 10);
    q.main_share = slots - q.small_share;
    q.ghost_share = slots * 9 / 10;
    q.trim();
  }
  Keys victim(uint32_t klass, const Keys& leased) const {
    Queues copy = queues_[klass];
    const auto key = copy.drop(leased);
    return key ? Keys{*key} : Keys{};
  }
  void evict(uint32_t key, const Keys& leased) {
    Queues& q = queues_[policy_.class_of(key)];
    q.dropped_any = true;
    EXPECT_EQ(q.drop(leased), key);
  }

 private:
  struct Queues {
    Keys small, main, ghost;
    std::map<uint32_t, int> uses;
    uint32_t small_share = 0, main_share = 0, ghost_share = 0;
    bool dropped_any = false;

    void trim() {
      while (ghost.size() > ghost_share) ghost.erase(ghost.begin());
    }
    std::optional<uint32_t> drop(const Keys& leased) {
      const bool small_first = !small.empty() && main.size() <= main_share;
      if (small_first) {
        if (const auto key = drop_small(leased)) return key;
        return drop_main(leased);
      }
      Queues before = *this;
      if (const auto key = drop_main(leased)) return key;
      *this = before;
      return drop_small(leased);
    }
    std::optional<uint32_t> drop_small(const Keys& leased) {
      Keys stuck;
      while (!small.empty()) {
        const uint32_t key = small.front();
        small.erase(small.begin());
        if (uses[key] > 1) {
          uses[key] = 0;
          main.push_back(key);
        } else if (contains(leased, key)) {
          stuck.push_back(key);
        } else {
          small.insert(small.begin(), stuck.begin(), stuck.end());
          ghost.push_back(key);
          trim();
          return key;
        }
      }
      small = stuck;
      return {};
    }
    std::optional<uint32_t> drop_main(const Keys& leased) {
      Keys stuck;
      while (!main.empty()) {
        const uint32_t key = main.front();
        main.erase(main.begin());
        if (uses[key] > 0) {
          --uses[key];
          main.push_back(key);
        } else if (contains(leased, key)) {
          stuck.push_back(key);
        } else {
          main.insert(main.begin(), stuck.begin(), stuck.end());
          return key;
        }
      }
      main = stuck;
      return {};
    }
  };

  const Policy& policy_;
  std::vector<Queues> queues_;
  std::set<uint32_t> returning_;
};

TEST(S3Fifo, RandomTracesAgreeWithTheDefinition) {
  expect_agreement<Definition>();
}

}  // namespace
}  // namespace colibri::cache_policies
