// SPDX-License-Identifier: Apache-2.0
#include "plugins/cache_policies/common/policy_under_test.h"

namespace colibri::cache_policies {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Policy = PolicyUnderTest;

Options options(double share, const std::string& usage) {
  return {{"share", share}, {"usage", usage}};
}

std::string list(const std::string& lines, int layers = 1, int experts = 8) {
  return "colibri-expert-usage 1\nlayers " + std::to_string(layers) + "\nexperts " +
         std::to_string(experts) + "\n" + lines;
}

TEST(Pinned, TheFirstOfTheListStay) {
  Policy policy({0}, 8, {4}, options(0.5, list("0 3 90\n0 5 80\n0 1 70\n")));
  policy.insert({3, 1, 5, 2});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(1, 2));
  policy.access({1});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(2, 1));
  EXPECT_THAT(policy.victims(0, 8, {1, 2}), IsEmpty());
}

TEST(Pinned, FewerSlotsPinFewer) {
  Policy policy({0}, 8, {4}, options(1, list("0 3 90\n0 5 80\n0 1 70\n0 2 1\n")));
  policy.insert({3, 1, 5, 2});
  EXPECT_THAT(policy.victims(0, 8), IsEmpty());
  policy.resize(0, 1);
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(1, 5, 2));
}

TEST(Pinned, EachClassHasItsOwnPart) {
  Policy policy({0, 1}, 4, {2, 2}, options(0.5, list("1 0 9\n1 1 8\n0 2 7\n0 3 6\n", 2, 4)));
  policy.insert({2, 3, 4, 5});
  EXPECT_THAT(policy.victims(0, 8), ElementsAre(3));
  EXPECT_THAT(policy.victims(1, 8), ElementsAre(5));
}

TEST(Pinned, RefusesAListThatIsNone) {
  const auto refusal = [](const std::string& text) {
    return Policy({0}, 8, {4}, options(0.5, text)).status().text();
  };
  const std::string place = "pinned: option usage: line ";
  EXPECT_EQ(refusal("hello"), place + "1 is not 'colibri-expert-usage 1'");
  EXPECT_EQ(refusal("colibri-expert-usage 1\nlayers x\n"), place + "2 is not 'layers N'");
  EXPECT_EQ(refusal(list("", 2)),
            place + "2 says layers 2, but the model has 1: the list is of another model");
  EXPECT_EQ(refusal(list("", 1, 9)),
            place + "3 says experts 9, but the model has 8: the list is of another model");
  EXPECT_EQ(refusal(list("0 1\n")), place + "4 is not 'LAYER EXPERT USES'");
  EXPECT_EQ(refusal(list("0 1 2")), place + "4 is not 'LAYER EXPERT USES'");
  EXPECT_EQ(refusal(list("0 1 2\n0 8 1\n")),
            place + "5 is expert 8 of layer 0: there are 1 layers of 8 experts");
  EXPECT_EQ(refusal(list("0 1 2\n0 1 1\n")), place + "5 lists an expert again");
  EXPECT_EQ(refusal(list("0 1 99999999999999999999\n")), place + "4 is not 'LAYER EXPERT USES'");
  EXPECT_EQ(refusal(""), "");
}

TEST(Pinned, ContradictoryCallsDoNoHarm) {
  expect_robust("pinned", options(0.5, ""));
}

constexpr double kShare = 0.4;
const Keys kList = {0, 9, 1, 18, 10, 45, 36, 2, 20, 30};  // of 6 layers of 9 experts

class Definition {
 public:
  Definition(const Policy& policy, const std::vector<uint32_t>& slots)
      : policy_(policy), slots_(slots) {}
  void access(uint64_t, const Keys& keys) {
    for (const uint32_t key : keys) {
      if (time_.contains(key)) insert(key);
    }
  }
  void insert(uint32_t key) { time_[key] = ++now_; }
  void evict(uint32_t key, const Keys&) { time_.erase(key); }
  void resize(uint32_t klass, uint32_t slots) { slots_[klass] = slots; }
  Keys victim(uint32_t klass, const Keys& leased) const {
    Keys pinned;
    for (const uint32_t key : kList) {
      const bool room = pinned.size() < static_cast<size_t>(kShare * slots_[klass]);
      if (policy_.class_of(key) == klass && room) pinned.push_back(key);
    }
    Keys oldest;
    for (const auto& [key, time] : time_) {
      if (policy_.class_of(key) != klass || contains(leased, key) || contains(pinned, key))
        continue;
      if (oldest.empty() || time < time_.at(oldest[0])) oldest = {key};
    }
    return oldest;
  }

 private:
  const Policy& policy_;
  std::vector<uint32_t> slots_;
  std::map<uint32_t, uint64_t> time_;
  uint64_t now_ = 0;
};

TEST(Pinned, RandomTracesAgreeWithTheDefinition) {
  std::string lines;
  for (const uint32_t key : kList) {
    lines += std::to_string(key / 9) + " " + std::to_string(key % 9) + " 1\n";
  }
  expect_agreement<Definition>(options(kShare, list(lines, 6, 9)));
}

}  // namespace
}  // namespace colibri::cache_policies
