// SPDX-License-Identifier: Apache-2.0
// A cache policy as its tests call it, and random traces that compare it with its definition.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "colibri/cache_policy.h"
#include "runtime/base/status.h"

namespace colibri::cache_policies {

using Keys = std::vector<uint32_t>;
using Options =
    std::map<std::string, std::variant<bool, int64_t, double, std::string>, std::less<>>;

inline bool contains(const Keys& keys, uint32_t key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

class PolicyUnderTest {
 public:
  PolicyUnderTest(std::vector<uint8_t> class_of_layer, uint32_t experts,
                  std::vector<uint32_t> slots, Options options = {})
      : class_of_layer_(std::move(class_of_layer)),
        experts_(experts),
        slots_(std::move(slots)),
        options_(std::move(options)) {
    host_.struct_size = sizeof(host_);
    host_.context = this;
    host_.option = option;
    const colibri_cache_shape shape = {sizeof(shape),
                                       static_cast<uint32_t>(class_of_layer_.size()),
                                       experts,
                                       2,
                                       static_cast<uint32_t>(slots_.size()),
                                       class_of_layer_.data(),
                                       slots_.data()};
    state_.resize(table().state_bytes(&shape, &host_) / sizeof(Line) + 1);
    colibri_error error = empty_error();
    status_ = from_c(table().create(&shape, &host_, state_.data(), &error), error, "create");
  }
  PolicyUnderTest(const PolicyUnderTest&) = delete;
  PolicyUnderTest& operator=(const PolicyUnderTest&) = delete;

  static const colibri_cache_policy_1& table() {
    return *static_cast<const colibri_cache_policy_1*>(
        colibri_plugin_v1()->get_interface("colibri.cache_policy/1"));
  }

  const Status& status() const { return status_; }
  uint32_t keys() const { return static_cast<uint32_t>(class_of_layer_.size()) * experts_; }
  uint32_t class_of(uint32_t key) const { return class_of_layer_[key / experts_]; }

  void access(const Keys& keys, bool prefetched = false) { access_at(step_++, keys, prefetched); }
  void access_at(uint64_t step, const Keys& keys, bool prefetched = false) {
    const std::vector<uint8_t> resident(keys.size());  // not looked at
    table().on_access(state_.data(), step, keys.data(), resident.data(),
                      static_cast<uint32_t>(keys.size()), prefetched);
  }
  void insert(uint32_t key) { table().on_insert(state_.data(), key); }
  void insert(const Keys& keys) {
    for (const uint32_t key : keys) insert(key);
  }
  void evict(uint32_t key) { table().on_evict(state_.data(), key); }
  colibri_status resize(uint32_t klass, uint32_t slots) {
    return table().resize(state_.data(), klass, slots);
  }
  // Residents of other classes and absent keys look evictable, too: the policy must know better.
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

  static colibri_status option(const colibri_host* host, colibri_str name, colibri_value* value) {
    const auto& options = static_cast<const PolicyUnderTest*>(host->context)->options_;
    const auto found = options.find(from_c(name));
    if (found == options.end()) return COLIBRI_NOT_FOUND;
    value->kind = static_cast<uint32_t>(found->second.index()) + COLIBRI_VALUE_BOOL;
    if (const auto* flag = std::get_if<bool>(&found->second)) value->i = *flag ? 1 : 0;
    if (const auto* number = std::get_if<int64_t>(&found->second)) value->i = *number;
    if (const auto* number = std::get_if<double>(&found->second)) value->f = *number;
    if (const auto* text = std::get_if<std::string>(&found->second)) value->s = to_c(*text);
    return COLIBRI_OK;
  }

  std::vector<uint8_t> class_of_layer_;
  uint32_t experts_;
  std::vector<uint32_t> slots_;
  Options options_;
  colibri_host host_ = {};
  std::vector<Line> state_;
  Status status_;
  uint64_t step_ = 0;
};

// What every policy does with contradictory calls and shapes that do not fit.
inline void expect_robust(const std::string& name, const Options& options = {}) {
  PolicyUnderTest policy({0}, 4, {2}, options);
  ASSERT_TRUE(policy.status().ok()) << policy.status().text();
  policy.evict(1);
  policy.evict(99);
  policy.insert(99);
  policy.access({2, 99});
  policy.insert(2);
  policy.insert(3);
  policy.insert(2);
  EXPECT_THAT(policy.victims(0, 9), ::testing::UnorderedElementsAre(2, 3));
  EXPECT_THAT(policy.victims(0, 0), ::testing::IsEmpty());
  EXPECT_THAT(policy.victims(0, 9, {2, 3}), ::testing::IsEmpty());
  EXPECT_THAT(policy.victims(1, 9), ::testing::IsEmpty());
  policy.evict(2);
  policy.evict(2);
  EXPECT_THAT(policy.victims(0, 9), ::testing::ElementsAre(3));
  EXPECT_EQ(policy.resize(0, 7), COLIBRI_OK);
  EXPECT_EQ(policy.resize(1, 7), COLIBRI_INVALID_ARGUMENT);

  EXPECT_EQ(PolicyUnderTest({0, 2}, 4, {1, 1}, options).status().text(),
            name + ": layer 1 is of class 2 of 2");
  const uint8_t class_of_layer[] = {0};
  const uint32_t slots[] = {1};
  const colibri_cache_shape huge = {sizeof(huge), 1u << 20, 1u << 20, 2, 1, class_of_layer, slots};
  colibri_error error = empty_error();
  EXPECT_EQ(PolicyUnderTest::table().state_bytes(&huge, nullptr), 0u);
  EXPECT_EQ(PolicyUnderTest::table().create(&huge, nullptr, nullptr, &error), COLIBRI_UNSUPPORTED);
  EXPECT_EQ(std::string(error.text), name + ": more than 2^31 experts, or more than 256 classes");
}

// Random traces with several classes, leases, guesses and changes of the budget, every answer
// compared with Definition: made with (policy, slots per class), with access(step, keys),
// insert(key), resize(class, slots), victim(class, leased), 0 or 1 keys, and evict(key, leased),
// which follows victim() with the same leases. Told of no guess.
template <typename Definition>
void expect_agreement(const Options& options = {}) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    constexpr uint32_t kExperts = 9;
    std::vector<uint32_t> slots = {1 + below(12), 1 + below(12), 1 + below(12)};
    PolicyUnderTest policy({0, 1, 2, 1, 0, 0}, kExperts, slots, options);
    ASSERT_TRUE(policy.status().ok()) << policy.status().text();
    Definition definition(policy, slots);
    std::set<uint32_t> residents;
    // Room for one more, unless the policy admits no more.
    const auto make_room = [&](uint32_t klass, uint32_t room, const Keys& leased) {
      for (;;) {
        const auto size = std::count_if(residents.begin(), residents.end(), [&](uint32_t key) {
          return policy.class_of(key) == klass;
        });
        if (size + room <= slots[klass]) return true;
        const Keys expected = definition.victim(klass, leased);
        EXPECT_EQ(policy.victims(klass, 1, leased), expected);
        const Keys many = policy.victims(klass, 5, leased);
        EXPECT_EQ(policy.victims(klass, 5, leased), many) << "victims() changes something";
        EXPECT_EQ(std::set<uint32_t>(many.begin(), many.end()).size(), many.size());
        EXPECT_TRUE(expected.empty() ? many.empty() : many[0] == expected[0]);
        for (const uint32_t key : many) {
          EXPECT_TRUE(residents.contains(key) && policy.class_of(key) == klass) << key;
        }
        if (expected.empty() || ::testing::Test::HasFailure()) return false;
        policy.evict(expected[0]);
        definition.evict(expected[0], leased);
        residents.erase(expected[0]);
      }
    };
    for (uint64_t step = 0; step < 400; ++step) {
      const uint32_t layer = below(6);
      Keys keys;
      for (uint32_t expert = 0; expert < kExperts; ++expert) {
        if (below(3 + expert) < 2) keys.push_back(layer * kExperts + expert);
      }
      const bool guess = below(5) == 0;
      policy.access_at(step, keys, guess);
      if (!guess) definition.access(step, keys);
      for (const uint32_t key : keys) {
        if (residents.contains(key) || !make_room(policy.class_of(key), 1, keys)) continue;
        policy.insert(key);
        definition.insert(key);
        residents.insert(key);
      }
      if (below(20) == 0) {
        const uint32_t klass = below(3);
        slots[klass] = 1 + below(12);
        EXPECT_EQ(policy.resize(klass, slots[klass]), COLIBRI_OK);
        definition.resize(klass, slots[klass]);
        make_room(klass, 0, {});
      }
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace colibri::cache_policies
