// SPDX-License-Identifier: Apache-2.0
#include "plugins/cache_policies/common/policy_under_test.h"

namespace colibri::cache_policies {
namespace {

using ::testing::ElementsAre;
using Policy = PolicyUnderTest;

TEST(Arc, WhatIsUsedAgainOutlivesWhatIsNot) {
  Policy policy({0}, 8, {4});
  policy.insert({0, 1, 2, 3});
  policy.access({0, 1});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(policy.victims(0, 8, {2}), ElementsAre(3, 0, 1));
}

TEST(Arc, AMissThatWasUsedOnceMakesRoomForSuch) {
  Policy policy({0}, 8, {3});
  policy.insert({0, 1});
  policy.access({0});
  policy.insert(2);
  policy.evict(1);  // of t1; b1 remembers it
  policy.insert(3);
  policy.evict(2);
  EXPECT_THAT(policy.victims(0, 1), ElementsAre(3));
  policy.access({1});  // b1 does: t1 should hold one
  EXPECT_THAT(policy.victims(0, 1), ElementsAre(0));
}

TEST(Arc, ContradictoryCallsDoNoHarm) {
  expect_robust("arc");
}

double length(const Keys& keys) {
  return static_cast<double>(keys.size());
}
double ratio(const Keys& a, const Keys& b) {
  return length(a) / length(b);
}

// Least recent first.
class Definition {
 public:
  Definition(const Policy& policy, const std::vector<uint32_t>& slots) : policy_(policy) {
    for (const uint32_t c : slots) lists_.push_back({{}, {}, {}, {}, c, 0, false});
  }
  void access(uint64_t, const Keys& keys) {
    for (Lists& l : lists_) l.from_b2 = false;
    for (const uint32_t key : keys) {
      Lists& l = lists_[policy_.class_of(key)];
      if (contains(l.t1, key) || contains(l.t2, key)) {
        std::erase(l.t1, key);
        std::erase(l.t2, key);
        l.t2.push_back(key);
      } else if (contains(l.b1, key)) {
        l.p = std::min<double>(l.c, l.p + std::max(1.0, ratio(l.b2, l.b1)));
      } else if (contains(l.b2, key)) {
        l.p = std::max(0.0, l.p - std::max(1.0, ratio(l.b1, l.b2)));
        l.from_b2 = true;
      }
    }
  }
  void insert(uint32_t key) {
    Lists& l = lists_[policy_.class_of(key)];
    const bool remembered = std::erase(l.b1, key) + std::erase(l.b2, key) > 0;
    (remembered ? l.t2 : l.t1).push_back(key);
    l.trim();
  }
  void resize(uint32_t klass, uint32_t slots) {
    Lists& l = lists_[klass];
    l.c = slots;
    l.p = std::min<double>(l.p, slots);
    l.trim();
  }
  Keys victim(uint32_t klass, const Keys& leased) const {
    const Lists& l = lists_[klass];
    const auto first = [&](const Keys& list) -> Keys {
      for (const uint32_t key : list) {
        if (!contains(leased, key)) return {key};
      }
      return {};
    };
    const bool t1 = !l.t1.empty() && (length(l.t1) > l.p || (length(l.t1) == l.p && l.from_b2));
    const Keys wanted = first(t1 ? l.t1 : l.t2);
    return wanted.empty() ? first(t1 ? l.t2 : l.t1) : wanted;
  }
  void evict(uint32_t key, const Keys&) {
    Lists& l = lists_[policy_.class_of(key)];
    if (std::erase(l.t1, key) > 0) l.b1.push_back(key);
    if (std::erase(l.t2, key) > 0) l.b2.push_back(key);
  }

 private:
  struct Lists {
    Keys t1, t2, b1, b2;
    uint32_t c;
    double p;
    bool from_b2;
    void trim() {
      while (!b1.empty() && t1.size() + b1.size() > c) b1.erase(b1.begin());
      while (!b2.empty() && t1.size() + t2.size() + b1.size() + b2.size() > 2 * size_t{c}) {
        b2.erase(b2.begin());
      }
    }
  };

  const Policy& policy_;
  std::vector<Lists> lists_;
};

TEST(Arc, RandomTracesAgreeWithTheDefinition) {
  expect_agreement<Definition>();
}

// One key at a time, as the paper's figure 4 has it: trimming before the page comes in.
class Paper {
 public:
  explicit Paper(uint32_t c) : c_(c) {}

  // True for a hit; else the page that left, if any, goes to `left`.
  bool access(uint32_t x, Keys& left) {
    if (std::erase(t1_, x) + std::erase(t2_, x) > 0) {  // case I
      t2_.push_back(x);
      return true;
    }
    if (contains(b1_, x)) {  // case II
      p_ = std::min<double>(c_, p_ + std::max(1.0, ratio(b2_, b1_)));
      replace(false, left);
      std::erase(b1_, x);
      t2_.push_back(x);
    } else if (contains(b2_, x)) {  // case III
      p_ = std::max(0.0, p_ - std::max(1.0, ratio(b1_, b2_)));
      replace(true, left);
      std::erase(b2_, x);
      t2_.push_back(x);
    } else {  // case IV
      const size_t l1 = t1_.size() + b1_.size();
      const size_t all = l1 + t2_.size() + b2_.size();
      if (l1 == c_ && t1_.size() < c_) {
        b1_.erase(b1_.begin());
        replace(false, left);
      } else if (l1 == c_) {
        left = {t1_.front()};
        t1_.erase(t1_.begin());
      } else if (all >= c_) {
        if (all == 2 * size_t{c_}) b2_.erase(b2_.begin());
        replace(false, left);
      }
      t1_.push_back(x);
    }
    return false;
  }

 private:
  void replace(bool in_b2, Keys& left) {
    const bool t1 = !t1_.empty() && (length(t1_) > p_ || (in_b2 && length(t1_) == p_));
    Keys& from = t1 ? t1_ : t2_;
    left = {from.front()};
    from.erase(from.begin());
    (t1 ? b1_ : b2_).push_back(left[0]);
  }

  const uint32_t c_;
  double p_ = 0;
  Keys t1_, t2_, b1_, b2_;
};

TEST(Arc, OneKeyAtATimeItIsThePapers) {
  for (const uint32_t slots : {1u, 2u, 5u, 16u}) {
    std::mt19937 random(slots);
    Policy policy({0}, 64, {slots});
    Paper paper(slots);
    std::set<uint32_t> residents;
    for (int i = 0; i < 20000; ++i) {
      // A hot set that moves, and a scan now and then.
      const auto key =
          static_cast<uint32_t>(i % 97 < 20 ? i % 64 : (random() % 8 + i / 500 * 3) % 64);
      policy.access({key});
      Keys left;
      ASSERT_EQ(paper.access(key, left), residents.contains(key)) << "access " << i;
      if (residents.contains(key)) continue;
      if (residents.size() == slots) {
        ASSERT_EQ(policy.victims(0, 1), left) << "access " << i;
        policy.evict(left[0]);
        residents.erase(left[0]);
      } else {
        ASSERT_TRUE(left.empty());
      }
      policy.insert(key);
      residents.insert(key);
    }
  }
}

}  // namespace
}  // namespace colibri::cache_policies
