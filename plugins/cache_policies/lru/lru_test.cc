// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "colibri/cache_policy.h"
#include "runtime/base/status.h"

namespace colibri {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Keys = std::vector<uint32_t>;

class Policy {
 public:
  Policy(std::vector<uint8_t> class_of_layer, uint32_t experts, std::vector<uint32_t> slots)
      : class_of_layer_(std::move(class_of_layer)), experts_(experts), slots_(std::move(slots)) {
    const colibri_cache_shape shape = {sizeof(shape),
                                       static_cast<uint32_t>(class_of_layer_.size()),
                                       experts,
                                       2,
                                       static_cast<uint32_t>(slots_.size()),
                                       class_of_layer_.data(),
                                       slots_.data()};
    state_.resize(table().state_bytes(&shape, nullptr) / sizeof(Line) + 1);
    colibri_error error = empty_error();
    status_ = from_c(table().create(&shape, nullptr, state_.data(), &error), error, "create");
  }

  static const colibri_cache_policy_1& table() {
    return *static_cast<const colibri_cache_policy_1*>(
        colibri_plugin_v1()->get_interface("colibri.cache_policy/1"));
  }

  const Status& status() const { return status_; }
  uint32_t keys() const { return static_cast<uint32_t>(class_of_layer_.size()) * experts_; }
  uint32_t class_of(uint32_t key) const { return class_of_layer_[key / experts_]; }

  void access(const Keys& keys, bool prefetched = false) {
    const std::vector<uint8_t> resident(keys.size());  // not looked at
    table().on_access(state_.data(), step_++, keys.data(), resident.data(),
                      static_cast<uint32_t>(keys.size()), prefetched);
  }
  void insert(uint32_t key) { table().on_insert(state_.data(), key); }
  void evict(uint32_t key) { table().on_evict(state_.data(), key); }
  colibri_status resize(uint32_t klass, uint32_t slots) {
    return table().resize(state_.data(), klass, slots);
  }
  Keys victims(uint32_t klass, uint32_t n, const Keys& leased = {}) {
    std::vector<uint64_t> evictable(keys() / 64 + 1, ~uint64_t{0});
    for (const uint32_t key : leased) evictable[key / 64] &= ~(uint64_t{1} << (key % 64));
    Keys result(n);
    result.resize(table().victims(state_.data(), klass, evictable.data(), n, result.data()));
    return result;
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<uint8_t> class_of_layer_;
  uint32_t experts_;
  std::vector<uint32_t> slots_;
  std::vector<Line> state_;
  Status status_;
  uint64_t step_ = 0;
};

TEST(Lru, TheLeastRecentlyUsedGoesFirst) {
  Policy policy({0}, 8, {4});
  for (const uint32_t key : {3, 1, 2}) policy.insert(key);
  policy.access({3});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(1, 2, 3));
  EXPECT_THAT(policy.victims(0, 2), ElementsAre(1, 2));
  EXPECT_THAT(policy.victims(0, 0), IsEmpty());
}

TEST(Lru, KeysOfOneAccessGoInAscendingOrder) {
  Policy policy({0}, 8, {4});
  for (const uint32_t key : {5, 3, 1}) policy.insert(key);
  policy.access({1, 5});
  EXPECT_THAT(policy.victims(0, 3), ElementsAre(3, 1, 5));
}

TEST(Lru, VictimsChangesNothing) {
  Policy policy({0}, 8, {4});
  for (const uint32_t key : {2, 4, 6}) policy.insert(key);
  EXPECT_EQ(policy.victims(0, 3), policy.victims(0, 3));
}

TEST(Lru, LeasedKeysAreSteppedOver) {
  Policy policy({0}, 130, {100});
  for (const uint32_t key : {129, 64, 0}) policy.insert(key);
  EXPECT_THAT(policy.victims(0, 3, {129}), ElementsAre(64, 0));
  EXPECT_THAT(policy.victims(0, 3, {0, 64, 129}), IsEmpty());
}

TEST(Lru, APrefetchIsNoUse) {
  Policy policy({0}, 8, {4});
  for (const uint32_t key : {1, 2}) policy.insert(key);
  policy.access({1}, true);
  EXPECT_THAT(policy.victims(0, 2), ElementsAre(1, 2));
}

TEST(Lru, ClassesAreApart) {
  Policy policy({0, 1, 0}, 4, {2, 2});
  for (const uint32_t key : {8, 5, 1, 4}) policy.insert(key);
  EXPECT_THAT(policy.victims(0, 9), ElementsAre(8, 1));
  EXPECT_THAT(policy.victims(1, 9), ElementsAre(5, 4));
  EXPECT_THAT(policy.victims(2, 9), IsEmpty());
  EXPECT_EQ(policy.resize(1, 7), COLIBRI_OK);
  EXPECT_EQ(policy.resize(2, 7), COLIBRI_INVALID_ARGUMENT);
}

TEST(Lru, ContradictoryCallsDoNoHarm) {
  Policy policy({0}, 4, {2});
  policy.evict(1);
  policy.evict(99);
  policy.insert(99);
  policy.access({2, 99});
  policy.insert(2);
  policy.insert(3);
  policy.insert(2);  // is already there: no use
  EXPECT_THAT(policy.victims(0, 9), ElementsAre(2, 3));
  policy.evict(2);
  policy.evict(2);
  EXPECT_THAT(policy.victims(0, 9), ElementsAre(3));
}

TEST(Lru, RefusesShapesThatDoNotFit) {
  EXPECT_EQ(Policy({0, 2}, 4, {1, 1}).status().text(), "lru: layer 1 is of class 2 of 2");
  const uint8_t class_of_layer[] = {0};
  const uint32_t slots[] = {1};
  const colibri_cache_shape huge = {sizeof(huge), 1u << 20, 1u << 20, 2, 1, class_of_layer, slots};
  colibri_error error = empty_error();
  EXPECT_EQ(Policy::table().state_bytes(&huge, nullptr), 0u);
  EXPECT_EQ(Policy::table().create(&huge, nullptr, nullptr, &error), COLIBRI_UNSUPPORTED);
  EXPECT_STREQ(error.text, "lru: more than 2^31 experts, or more than 256 classes");
}

// The definition: each resident has the time of its last use.
class Model {
 public:
  void use(uint32_t key) { time_[key] = ++now_; }
  bool resident(uint32_t key) const { return time_.contains(key); }
  void evict(uint32_t key) { time_.erase(key); }
  size_t size(const Policy& policy, uint32_t klass) const {
    return std::count_if(time_.begin(), time_.end(),
                         [&](const auto& entry) { return policy.class_of(entry.first) == klass; });
  }
  Keys victims(const Policy& policy, uint32_t klass, uint32_t n, const Keys& leased) const {
    Keys keys;
    for (const auto& [key, time] : time_) {
      const bool free = std::find(leased.begin(), leased.end(), key) == leased.end();
      if (free && policy.class_of(key) == klass) keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end(),
              [&](uint32_t a, uint32_t b) { return time_.at(a) < time_.at(b); });
    keys.resize(std::min<size_t>(keys.size(), n));
    return keys;
  }

 private:
  std::map<uint32_t, uint64_t> time_;
  uint64_t now_ = 0;
};

// Random traces with several classes, leases, guesses and changes of the budget, every answer
// compared with the definition.
TEST(Lru, RandomTracesAgreeWithTheDefinition) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    std::vector<uint32_t> slots = {1 + below(12), 1 + below(12), 1 + below(12)};
    Policy policy({0, 1, 2, 1, 0, 0}, 9, slots);
    ASSERT_TRUE(policy.status().ok());
    Model model;
    const auto make_room = [&](uint32_t klass, size_t room, const Keys& leased) {
      const size_t size = model.size(policy, klass);
      if (size + room <= slots[klass]) return true;
      const auto n = static_cast<uint32_t>(size + room - slots[klass]);
      const Keys expected = model.victims(policy, klass, n, leased);
      EXPECT_EQ(policy.victims(klass, n, leased), expected);
      for (const uint32_t key : expected) {
        policy.evict(key);
        model.evict(key);
      }
      return expected.size() == n;
    };
    for (int step = 0; step < 400; ++step) {
      const uint32_t layer = below(6);
      Keys keys;
      for (uint32_t expert = 0; expert < 9; ++expert) {
        if (below(3) == 0) keys.push_back(layer * 9 + expert);
      }
      const bool guess = below(5) == 0;
      policy.access(keys, guess);
      if (!guess) {
        for (const uint32_t key : keys) {
          if (model.resident(key)) model.use(key);
        }
      }
      for (const uint32_t key : keys) {
        if (model.resident(key) || !make_room(policy.class_of(key), 1, keys)) continue;
        policy.insert(key);
        model.use(key);
      }
      if (below(20) == 0) {
        const uint32_t klass = below(3);
        slots[klass] = 1 + below(12);
        EXPECT_EQ(policy.resize(klass, slots[klass]), COLIBRI_OK);
        make_room(klass, 0, {});
      }
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace colibri
