// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/profile.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "runtime/machine/made_up_tree.h"

namespace colibri::machine {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Two cores of two threads each, 4 GiB with 3 GiB available, no limits.
void write_machine(const MadeUpTree& tree) {
  tree.write("/proc/self/status", "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n");
  tree.write("/proc/meminfo", "MemTotal:        4194304 kB\nMemAvailable:    3145728 kB\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    tree.write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/core_cpus_list",
               cpu % 2 == 0 ? "0,2\n" : "1,3\n");
  }
}

TEST(ProfileTest, CountsCoresNotThreads) {
  const MadeUpTree tree;
  write_machine(tree);
  const Result<Profile> profile = Profile::detect(tree.root());
  ASSERT_TRUE(profile.ok()) << profile.status().text();
  EXPECT_EQ(profile->hardware_threads, 4u);
  EXPECT_EQ(profile->physical_cores, 2u);
  EXPECT_EQ(profile->usable_cores, 2u);
  EXPECT_EQ(profile->memory_total, 4096 * kMiB);
  EXPECT_EQ(profile->memory_available, 3072 * kMiB);
  EXPECT_EQ(profile->memory_limited_by, "");
}

TEST(ProfileTest, AffinityMaskLeavesCoresOut) {
  const MadeUpTree tree;
  write_machine(tree);
  tree.write("/proc/self/status", "Cpus_allowed_list:\t0,2\n");
  const Result<Profile> profile = Profile::detect(tree.root());
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->hardware_threads, 2u);
  EXPECT_EQ(profile->physical_cores, 1u) << "both are threads of one core";
}

TEST(ProfileTest, WithoutTopologyEachProcessorIsACore) {
  const MadeUpTree tree;
  write_machine(tree);
  tree.remove("/sys/devices");
  EXPECT_EQ(Profile::detect(tree.root())->physical_cores, 4u);
}

TEST(ProfileTest, QuotaLowersUsableCores) {
  struct Case {
    const char* quota;
    uint32_t cores;
  };
  for (const Case& c : {Case{"50000 100000", 1}, Case{"150000 100000", 1}, Case{"200000 100000", 2},
                        Case{"900000 100000", 2}}) {
    const MadeUpTree tree;
    write_machine(tree);
    tree.write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    tree.write("/proc/self/cgroup", "0::/\n");
    tree.write("/sys/fs/cgroup/cpu.max", c.quota);
    EXPECT_EQ(Profile::detect(tree.root())->usable_cores, c.cores) << c.quota;
  }
}

TEST(ProfileTest, CgroupLowersMemory) {
  const MadeUpTree tree;
  write_machine(tree);
  tree.write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.write("/proc/self/cgroup", "0::/a\n");
  tree.write("/sys/fs/cgroup/a/memory.max", std::to_string(1024 * kMiB));
  tree.write("/sys/fs/cgroup/a/memory.current", std::to_string(24 * kMiB));
  const Result<Profile> profile = Profile::detect(tree.root());
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->memory_total, 1024 * kMiB);
  EXPECT_EQ(profile->memory_available, 1000 * kMiB);
  EXPECT_EQ(profile->memory_limited_by, tree.root() + "/sys/fs/cgroup/a/memory.max");
}

TEST(ProfileTest, ReadsCachesAndHugePages) {
  const MadeUpTree tree;
  write_machine(tree);
  const std::string cache = "/sys/devices/system/cpu/cpu0/cache/index";
  const char* const kCaches[][3] = {{"1", "Data", "48K"},
                                    {"1", "Instruction", "32K"},
                                    {"2", "Unified", "2048K"},
                                    {"3", "Unified", "30M"}};
  for (int i = 0; i < 4; ++i) {
    const std::string folder = cache + std::to_string(i);
    tree.write(folder + "/level", kCaches[i][0]);
    tree.write(folder + "/type", kCaches[i][1]);
    tree.write(folder + "/size", kCaches[i][2]);
  }
  tree.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  tree.write("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
  const Result<Profile> profile = Profile::detect(tree.root());
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->caches.l1_data, 48u << 10);
  EXPECT_EQ(profile->caches.l2, 2 * kMiB);
  EXPECT_EQ(profile->caches.l3, 30 * kMiB);
  EXPECT_EQ(profile->transparent_huge_pages, "madvise");
  EXPECT_EQ(profile->huge_page_bytes, 2 * kMiB);
}

TEST(ProfileTest, WithoutMeminfoThereIsNoPlan) {
  const MadeUpTree tree;
  write_machine(tree);
  tree.write("/proc/meminfo", "MemTotal: 5 kB\n");
  const Result<Profile> profile = Profile::detect(tree.root());
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.status().code(), COLIBRI_IO);
  EXPECT_EQ(profile.status().text(), tree.root() +
                                         "/proc/meminfo: no MemTotal and MemAvailable, "
                                         "so that memory cannot be planned");
}

TEST(ProfileTest, ThisMachineHasCoresAndMemory) {
  const Result<Profile> profile = Profile::detect();
  ASSERT_TRUE(profile.ok()) << profile.status().text();
  EXPECT_GE(profile->usable_cores, 1u);
  EXPECT_GT(profile->memory_available, 0u);
  EXPECT_LE(profile->memory_available, profile->memory_total);
  EXPECT_GE(profile->page_bytes, 4096u);
}

TEST(ProfileTest, MaxIsaLowersTheFeaturesOrIsRefused) {
  ASSERT_EQ(setenv("COLIBRI_MAX_ISA", "baseline", 1), 0);
  const Result<Profile> low = Profile::detect();
  ASSERT_EQ(setenv("COLIBRI_MAX_ISA", "fast", 1), 0);
  const Result<Profile> unknown = Profile::detect();
  ASSERT_EQ(unsetenv("COLIBRI_MAX_ISA"), 0);
  const Result<Profile> full = Profile::detect();
  ASSERT_TRUE(low.ok());
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(low->isa_limit, "baseline");
  EXPECT_LT(low->cpu_features.size(), full->cpu_features.size());
  EXPECT_EQ(full->isa_limit, "");
  ASSERT_FALSE(unknown.ok());
  EXPECT_TRUE(unknown.status().text().starts_with(
      "COLIBRI_MAX_ISA: unknown instruction-set level 'fast'; those of "));
}

}  // namespace
}  // namespace colibri::machine
