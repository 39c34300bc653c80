// SPDX-License-Identifier: Apache-2.0
// experts.budget: auto, from what a machine's cgroups leave to what the plan takes. The machines are
// made up; the plan and its model are whole.
#include <gtest/gtest.h>

#include "runtime/base/memory.h"
#include "runtime/machine/made_up_tree.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kMachine = 4096 * kMiB;
const std::string kV2Mount = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const std::string kV1Mount = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

class BudgetTest : public testing::Test {
 protected:
  BudgetTest() {
    tree_.write("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
    tree_.write("/proc/meminfo",
                "MemTotal: 8388608 kB\nMemAvailable: " + std::to_string(kMachine / 1024) + " kB\n");
    whole_ = plan();
    const engine::MemoryPlan& memory = whole_->memory;
    EXPECT_EQ(memory.experts, memory.experts_all);
    // What must be free so that half of the experts have room, beside all else and a spare tenth.
    half_ = (memory.besides_experts() + memory.experts_all / 2) * 10 / 9;
  }

  std::unique_ptr<engine::Plan> plan() {
    auto made = make_plan("models/demo", {"experts.budget=auto", "threads.count=2"}, tree_.root());
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::move(*made);
  }
  void write(const std::string& path, uint64_t bytes) {
    tree_.write(path, std::to_string(bytes) + "\n");
  }
  void expect_half(const std::string& limited_by) {
    const auto made = plan();
    const engine::MemoryPlan& memory = made->memory;
    EXPECT_EQ(made->profile.memory_limited_by, tree_.root() + limited_by);
    EXPECT_EQ(memory.available, half_);
    EXPECT_LE(memory.experts, memory.experts_all / 2);
    EXPECT_GT(memory.experts + memory.slot, memory.experts_all / 2 - memory.slot);
    EXPECT_LE(memory.total(), half_ - half_ / 10);
    EXPECT_TRUE(made->check_memory().ok());
  }
  void expect_whole() {
    const auto made = plan();
    EXPECT_EQ(made->memory.available, kMachine);
    EXPECT_EQ(made->memory.experts, made->memory.experts_all);
  }

  const machine::MadeUpTree tree_;
  std::unique_ptr<engine::Plan> whole_;
  uint64_t half_ = 0;
};

TEST_F(BudgetTest, Version2) {
  const std::string group = "/sys/fs/cgroup/a";
  tree_.write("/proc/self/mountinfo", kV2Mount);
  tree_.write("/proc/self/cgroup", "0::/a\n");
  expect_whole();  // no limit is there
  tree_.write(group + "/memory.max", "max\n");
  expect_whole();
  write(group + "/memory.max", 2 * kMachine);  // more than the machine has
  expect_whole();
  write(group + "/memory.max", half_ + 7 * kMiB);
  write(group + "/memory.current", 7 * kMiB);
  expect_half(group + "/memory.max");
}

TEST_F(BudgetTest, Version2Nested) {
  const std::string outer = "/sys/fs/cgroup/outer";
  tree_.write("/proc/self/mountinfo", kV2Mount);
  tree_.write("/proc/self/cgroup", "0::/outer/inner\n");
  write(outer + "/memory.max", half_ + 90 * kMiB);  // a neighbour has used most of it
  write(outer + "/memory.current", 90 * kMiB);
  write(outer + "/inner/memory.max", half_ + 50 * kMiB);
  write(outer + "/inner/memory.current", 1 * kMiB);
  expect_half(outer + "/memory.max");
  write(outer + "/memory.max", kMachine);
  write(outer + "/inner/memory.current", 50 * kMiB);
  expect_half(outer + "/inner/memory.max");
}

TEST_F(BudgetTest, Version1) {
  const std::string top = "/sys/fs/cgroup/memory";
  tree_.write("/proc/self/mountinfo", kV1Mount);
  tree_.write("/proc/self/cgroup", "4:memory:/job/step\n");
  write(top + "/memory.limit_in_bytes", 9223372036854771712u);  // none
  expect_whole();
  write(top + "/job/memory.limit_in_bytes", 2 * kMachine);
  expect_whole();
  write(top + "/job/step/memory.limit_in_bytes", half_ + 30 * kMiB);
  write(top + "/job/step/memory.usage_in_bytes", 40 * kMiB);
  tree_.write(top + "/job/step/memory.stat",
              "total_inactive_file " + std::to_string(10 * kMiB) + "\n");
  expect_half(top + "/job/step/memory.limit_in_bytes");
  write(top + "/job/step/memory.limit_in_bytes", kMachine);
  write(top + "/job/memory.limit_in_bytes", half_);
  expect_half(top + "/job/memory.limit_in_bytes");
}

TEST_F(BudgetTest, WhereTooLittleIsLeftTheFloorStays) {
  tree_.write("/proc/self/mountinfo", kV2Mount);
  tree_.write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", kMiB);
  const auto made = plan();
  EXPECT_EQ(made->memory.experts, 2 * made->memory.slot);
  EXPECT_EQ(made->check_memory().code(), COLIBRI_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace colibri::test
