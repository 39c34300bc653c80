// SPDX-License-Identifier: Apache-2.0
// Linux Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/{memory,cpusets}.rst;
// scheduler/sched-bwc.rst.
#include "runtime/machine/cgroups.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/machine/system_file.h"

namespace colibri::machine {
namespace {

// The names that differ between the versions.
struct MemoryFiles {
  const char* limit;
  const char* usage;
  const char* droppable;  // key of memory.stat: file cache that the kernel can drop without writing
};
constexpr MemoryFiles kMemoryV1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                   "total_inactive_file"};
constexpr MemoryFiles kMemoryV2 = {"/memory.max", "/memory.current", "inactive_file"};
// Above it the kernel slows a group down instead of refusing: for planning as hard as the limit.
constexpr MemoryFiles kMemoryHighV2 = {"/memory.high", "/memory.current", "inactive_file"};

bool lists(std::string_view list, std::string_view word) {
  const std::vector<std::string_view> words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A path of mountinfo: blanks and backslashes in it are written as \ooo.
std::string unescaped(std::string_view text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      path += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                (text[i + 3] - '0'));
      i += 3;
    } else {
      path += text[i];
    }
  }
  return path;
}

struct Mount {
  std::string point;
  std::string top;  // the group that is seen at the mount point
};

// Where a hierarchy is mounted: version 2, or the version 1 hierarchy of a controller.
std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view type,
                                std::string_view controller) {
  for (const std::string_view line : split(mountinfo, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> head = split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> tail = split(line.substr(dash + 3), ' ');
    if (head.size() < 5 || tail.size() < 3 || tail[0] != type) continue;
    if (!controller.empty() && !lists(tail[2], controller)) continue;
    return Mount{unescaped(head[4]), unescaped(head[3])};
  }
  return std::nullopt;
}

// This process's group in a hierarchy, from /proc/self/cgroup ("4:memory:/a/b"; version 2 is
// "0::/a/b").
std::optional<std::string> find_group(std::string_view groups, std::string_view controller) {
  for (const std::string_view line : split(groups, '\n')) {
    const size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool wanted =
        controller.empty() ? line.starts_with("0::") : lists(controllers, controller);
    if (wanted) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

// The folders of the group and of every group above it, up to the mount point.
std::vector<std::string> levels(const std::string& root, const Mount& mount,
                                const std::string& group) {
  const std::string top = mount.top == "/" ? "" : mount.top;
  // In a container the group may lie outside what is mounted ("/../x"): then the mount point is all
  // that can be seen.
  const bool below = group.starts_with(top) && group.find("..") == std::string::npos &&
                     (group.size() == top.size() || group[top.size()] == '/');
  std::string path = below ? group.substr(top.size()) : "";
  std::vector<std::string> folders;
  while (true) {
    while (path.ends_with('/')) path.pop_back();
    folders.push_back(root + mount.point + path);
    if (path.empty()) return folders;
    path.erase(path.rfind('/'));
  }
}

void limit_memory(const std::string& folder, const MemoryFiles& files, CgroupLimits& limits) {
  constexpr uint64_t kUnlimitedV1 = uint64_t{1} << 62;  // "none" is the largest multiple of a page
  const std::optional<uint64_t> limit = read_number(folder + files.limit);
  if (!limit || *limit >= kUnlimitedV1) return;
  limits.memory_limit = std::min(limits.memory_limit, *limit);
  const std::optional<std::string> stat = read_system_file(folder + "/memory.stat");
  const uint64_t droppable = stat ? number_of(*stat, files.droppable).value_or(0) : 0;
  const uint64_t usage = read_number(folder + files.usage).value_or(0);
  const uint64_t held = usage - std::min(usage, droppable);
  const uint64_t available = *limit - std::min(*limit, held);
  if (available < limits.memory_available) {
    limits.memory_available = available;
    limits.memory_limited_by = folder + files.limit;
  }
}

void limit_cpu(double quota, double period, CgroupLimits& limits) {
  if (quota <= 0 || period <= 0) return;
  const double processors = quota / period;
  limits.cpu_quota = limits.cpu_quota == 0 ? processors : std::min(limits.cpu_quota, processors);
}

void limit_cpu_v1(const std::string& folder, CgroupLimits& limits) {
  const std::optional<uint64_t> quota = read_number(folder + "/cpu.cfs_quota_us");  // "-1": none
  const std::optional<uint64_t> period = read_number(folder + "/cpu.cfs_period_us");
  if (quota && period) {
    limit_cpu(static_cast<double>(*quota), static_cast<double>(*period), limits);
  }
}

void limit_cpu_v2(const std::string& folder, CgroupLimits& limits) {
  const std::optional<std::string> text = read_system_file(folder + "/cpu.max");
  if (!text) return;
  const std::vector<std::string_view> words = split(trimmed(*text), ' ');
  if (words.size() != 2) return;
  const std::optional<uint64_t> quota = parse_number(words[0]);  // "max": none
  const std::optional<uint64_t> period = parse_number(words[1]);
  if (quota && period) {
    limit_cpu(static_cast<double>(*quota), static_cast<double>(*period), limits);
  }
}

}  // namespace

CgroupLimits read_cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  const std::optional<std::string> groups = read_system_file(root + "/proc/self/cgroup");
  const std::optional<std::string> mountinfo = read_system_file(root + "/proc/self/mountinfo");
  if (!groups || !mountinfo) return limits;  // a kernel without cgroups

  // Calls action for each visible folder of a hierarchy; on hybrid systems several hierarchies
  // exist side by side.
  const auto each_level = [&](std::string_view type, std::string_view controller, auto action) {
    const std::optional<Mount> mount = find_mount(*mountinfo, type, controller);
    const std::optional<std::string> group = find_group(*groups, controller);
    if (!mount || !group) return;
    for (const std::string& folder : levels(root, *mount, *group)) action(folder);
  };
  each_level("cgroup", "memory",
             [&](const std::string& folder) { limit_memory(folder, kMemoryV1, limits); });
  each_level("cgroup", "cpu", [&](const std::string& folder) { limit_cpu_v1(folder, limits); });
  each_level("cgroup2", "", [&](const std::string& folder) {
    limit_memory(folder, kMemoryV2, limits);
    limit_memory(folder, kMemoryHighV2, limits);
    limit_cpu_v2(folder, limits);
  });
  return limits;
}

}  // namespace colibri::machine
