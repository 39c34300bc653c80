// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/cgroups.h"

#include <gtest/gtest.h>

#include "runtime/machine/made_up_tree.h"

namespace colibri::machine {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr char kV2Mount[] =
    "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

std::string mib(uint64_t n) {
  return std::to_string(n * kMiB) + "\n";
}

TEST(CgroupsTest, NoCgroupsMeansNoLimits) {
  const MadeUpTree tree;
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  EXPECT_EQ(limits.cpu_quota, 0);
  EXPECT_EQ(limits.memory_limit, CgroupLimits::kNoLimit);
  EXPECT_EQ(limits.memory_available, CgroupLimits::kNoLimit);
}

TEST(CgroupsTest, Version2TakesTheTightestLevel) {
  const MadeUpTree tree;
  tree.write("/proc/self/mountinfo", kV2Mount);
  tree.write("/proc/self/cgroup", "0::/outer/inner\n");
  const std::string top = "/sys/fs/cgroup";
  tree.write(top + "/outer/memory.max", mib(1000));
  tree.write(top + "/outer/memory.current", mib(900));
  tree.write(top + "/outer/cpu.max", "150000 100000\n");
  tree.write(top + "/outer/inner/memory.max", mib(400));
  tree.write(top + "/outer/inner/memory.current", mib(100));
  tree.write(top + "/outer/inner/cpu.max", "max 100000\n");
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  EXPECT_EQ(limits.memory_limit, 400 * kMiB);
  EXPECT_EQ(limits.memory_available, 100 * kMiB) << "the outer group has less left";
  EXPECT_EQ(limits.memory_limited_by, tree.root() + top + "/outer/memory.max");
  EXPECT_DOUBLE_EQ(limits.cpu_quota, 1.5);
}

TEST(CgroupsTest, FileCacheThatCanBeDroppedIsAvailable) {
  const MadeUpTree tree;
  tree.write("/proc/self/mountinfo", kV2Mount);
  tree.write("/proc/self/cgroup", "0::/\n");
  tree.write("/sys/fs/cgroup/memory.max", mib(500));
  tree.write("/sys/fs/cgroup/memory.current", mib(450));
  tree.write("/sys/fs/cgroup/memory.stat",
             "anon 1\nactive_inactive_file 7\ninactive_file " + mib(300) + "file 2\n");
  EXPECT_EQ(read_cgroup_limits(tree.root()).memory_available, 350 * kMiB);
}

TEST(CgroupsTest, MemoryHighCountsAsALimit) {
  const MadeUpTree tree;
  tree.write("/proc/self/mountinfo", kV2Mount);
  tree.write("/proc/self/cgroup", "0::/a\n");
  tree.write("/sys/fs/cgroup/a/memory.max", "max\n");
  tree.write("/sys/fs/cgroup/a/memory.high", mib(64));
  tree.write("/sys/fs/cgroup/a/memory.current", mib(80));
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  EXPECT_EQ(limits.memory_limit, 64 * kMiB);
  EXPECT_EQ(limits.memory_available, 0u) << "more in use than granted is nothing, not a wrap";
}

TEST(CgroupsTest, Version1WithUnlimitedRoot) {
  const MadeUpTree tree;
  tree.write("/proc/self/mountinfo",
             "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
             "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
             "36 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
  tree.write("/proc/self/cgroup", "4:memory:/job\n3:cpuset:/x\n1:cpu,cpuacct:/job\n");
  const std::string memory = "/sys/fs/cgroup/memory";
  tree.write(memory + "/memory.limit_in_bytes", "9223372036854771712\n");
  tree.write(memory + "/job/memory.limit_in_bytes", mib(2048));
  tree.write(memory + "/job/memory.usage_in_bytes", mib(48));
  tree.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  tree.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  tree.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  EXPECT_EQ(limits.memory_limit, 2048 * kMiB);
  EXPECT_EQ(limits.memory_available, 2000 * kMiB);
  EXPECT_DOUBLE_EQ(limits.cpu_quota, 3);
}

TEST(CgroupsTest, InAContainerTheMountPointIsTheGroup) {
  const MadeUpTree tree;
  const std::string mounts[] = {
      "35 31 0:32 /docker/abc /sys/fs/cgroup/my\\040memory ro - cgroup cgroup rw,memory\n",
      "35 31 0:32 / /sys/fs/cgroup/my\\040memory ro - cgroup cgroup rw,memory\n"};
  const std::string groups[] = {"4:memory:/docker/abc\n", "4:memory:/../elsewhere\n"};
  tree.write("/sys/fs/cgroup/my memory/memory.limit_in_bytes", mib(10));
  for (int i = 0; i < 2; ++i) {
    tree.write("/proc/self/mountinfo", mounts[i]);
    tree.write("/proc/self/cgroup", groups[i]);
    EXPECT_EQ(read_cgroup_limits(tree.root()).memory_limit, 10 * kMiB) << mounts[i];
  }
}

TEST(CgroupsTest, NonsenseIsNoLimit) {
  const MadeUpTree tree;
  tree.write("/proc/self/mountinfo", std::string("garbage\n - \n30 23 - cgroup2\n") + kV2Mount);
  tree.write("/proc/self/cgroup", "::\n0:\nx\n0::/a\n");
  tree.write("/sys/fs/cgroup/a/memory.max", "lots\n");
  tree.write("/sys/fs/cgroup/a/cpu.max", "100000 0\n");
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  EXPECT_EQ(limits.memory_limit, CgroupLimits::kNoLimit);
  EXPECT_EQ(limits.cpu_quota, 0);
}

}  // namespace
}  // namespace colibri::machine
