// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/profile.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "runtime/machine/cgroups.h"
#include "runtime/machine/system_file.h"

namespace colibri::machine {
namespace {

constexpr uint64_t kKiB = 1024;

// "0-3,8" -> 0 1 2 3 8; nothing if it is no such list.
std::optional<std::vector<uint32_t>> parse_cpu_list(std::string_view text) {
  constexpr uint64_t kMostCpus = 1 << 16;
  std::vector<uint32_t> cpus;
  for (const std::string_view part : split(trimmed(text), ',')) {
    const size_t dash = part.find('-');
    const std::optional<uint64_t> first = parse_number(part.substr(0, dash));
    const std::optional<uint64_t> last =
        dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *last >= kMostCpus) return std::nullopt;
    for (uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<uint32_t>(cpu));
  }
  if (cpus.empty()) return std::nullopt;
  return cpus;
}

std::vector<uint32_t> cpus_of_affinity_call() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<uint32_t> cpus;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
    }
  }
  return cpus;
}

// The processors of the affinity mask, which also holds the cpuset of the cgroup.
Result<std::vector<uint32_t>> allowed_cpus(const std::string& root) {
  constexpr std::string_view kKey = "Cpus_allowed_list:";
  if (const auto status = read_system_file(root + "/proc/self/status")) {
    for (const std::string_view line : split(*status, '\n')) {
      if (!line.starts_with(kKey)) continue;
      if (auto cpus = parse_cpu_list(line.substr(kKey.size()))) return std::move(*cpus);
    }
  }
  std::vector<uint32_t> cpus = cpus_of_affinity_call();  // sandboxes leave the line out
  if (cpus.empty()) return io_error("cannot tell which processors this process may use");
  return cpus;
}

std::string cpu_folder(const std::string& root, uint32_t cpu) {
  return root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
}

uint32_t count_cores(const std::string& root, const std::vector<uint32_t>& cpus) {
  std::set<std::string> cores;  // each named by the list of its hardware threads
  for (const uint32_t cpu : cpus) {
    const std::string topology = cpu_folder(root, cpu) + "/topology";
    std::optional<std::string> threads = read_system_file(topology + "/core_cpus_list");
    if (!threads) threads = read_system_file(topology + "/thread_siblings_list");  // before 5.3
    cores.insert(threads ? std::string(trimmed(*threads)) : std::to_string(cpu));
  }
  return static_cast<uint32_t>(cores.size());
}

// "32K", "1024K", "8M" in bytes.
uint64_t parse_cache_size(std::string_view text) {
  text = trimmed(text);
  uint64_t unit = 1;
  if (text.ends_with('K')) unit = kKiB;
  if (text.ends_with('M')) unit = kKiB * kKiB;
  if (unit > 1) text.remove_suffix(1);
  return parse_number(text).value_or(0) * unit;
}

CacheSizes read_caches(const std::string& root, uint32_t cpu) {
  CacheSizes sizes;
  for (int index = 0; index < 16; ++index) {
    const std::string folder = cpu_folder(root, cpu) + "/cache/index" + std::to_string(index);
    const std::optional<uint64_t> level = read_number(folder + "/level");
    const std::optional<std::string> type = read_system_file(folder + "/type");
    const std::optional<std::string> size = read_system_file(folder + "/size");
    if (!level) break;
    if (!type || !size || trimmed(*type) == "Instruction") continue;
    const uint64_t bytes = parse_cache_size(*size);
    if (*level == 1) sizes.l1_data = bytes;
    if (*level == 2) sizes.l2 = bytes;
    if (*level == 3) sizes.l3 = bytes;
  }
  return sizes;
}

Status read_memory(const std::string& root, const CgroupLimits& limits, Profile& profile) {
  const std::string path = root + "/proc/meminfo";
  const std::optional<std::string> text = read_system_file(path);
  const auto total = text ? number_of(*text, "MemTotal:") : std::nullopt;
  const auto available = text ? number_of(*text, "MemAvailable:") : std::nullopt;
  if (!total || !available) {
    return io_error(path + ": no MemTotal and MemAvailable, so that memory cannot be planned");
  }
  profile.memory_total = std::min(*total * kKiB, limits.memory_limit);
  profile.memory_available = *available * kKiB;
  if (limits.memory_available < profile.memory_available) {
    profile.memory_available = limits.memory_available;
    profile.memory_limited_by = limits.memory_limited_by;
  }
  return {};
}

void read_huge_pages(const std::string& root, Profile& profile) {
  const std::string folder = root + "/sys/kernel/mm/transparent_hugepage";
  const std::optional<std::string> modes = read_system_file(folder + "/enabled");
  if (!modes) return;
  const size_t begin = modes->find('[');  // "always [madvise] never"
  const size_t end = modes->find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return;
  profile.transparent_huge_pages = modes->substr(begin + 1, end - begin - 1);
  profile.huge_page_bytes = read_number(folder + "/hpage_pmd_size").value_or(0);
}

Status find_cpu_features(Profile& profile) {
  profile.architecture = architecture();
  profile.cpu_features = cpu_features();
  const char* limit = secure_getenv("COLIBRI_MAX_ISA");
  if (limit == nullptr || *limit == '\0') return {};
  Result<FeatureSet> left = limited(profile.cpu_features, profile.architecture, limit);
  if (!left.ok()) return left.status().at("COLIBRI_MAX_ISA");
  profile.cpu_features = std::move(*left);
  profile.isa_limit = limit;
  return {};
}

}  // namespace

Result<Profile> Profile::detect(const std::string& root) {
  const std::string top = root == "/" ? "" : root;
  Profile profile;
  COLIBRI_TRY(find_cpu_features(profile));

  COLIBRI_ASSIGN(const std::vector<uint32_t> cpus, allowed_cpus(top));
  const CgroupLimits limits = read_cgroup_limits(top);
  profile.hardware_threads = static_cast<uint32_t>(cpus.size());
  profile.physical_cores = count_cores(top, cpus);
  profile.cpu_quota = limits.cpu_quota;
  profile.usable_cores = profile.physical_cores;
  if (limits.cpu_quota > 0 && limits.cpu_quota < profile.physical_cores) {
    profile.usable_cores = std::max(1u, static_cast<uint32_t>(limits.cpu_quota));
  }
  COLIBRI_TRY(read_memory(top, limits, profile));
  profile.caches = read_caches(top, cpus.front());
  profile.page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  read_huge_pages(top, profile);
  return profile;
}

}  // namespace colibri::machine
