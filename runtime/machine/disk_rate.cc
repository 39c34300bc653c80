// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine/disk_rate.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "runtime/base/memory.h"
#include "runtime/base/thread_pool.h"

namespace colibri::machine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kInFlight = 8;  // reads at a time
constexpr double kSeconds = 0.25;
constexpr int kLoneReads = 16;  // a slow one of them is as likely later
constexpr uint64_t kPage =
    4096;  // what offsets, lengths and memory of direct reads are multiples of
constexpr uint64_t kMostRead = 8u << 20;  // of one read: longer ones are not faster

struct Descriptor {
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  int value = -1;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Status failed(const std::filesystem::path& path, int error) {
  return io_error(path.string() + ": cannot be read: " + std::generic_category().message(error));
}

}  // namespace

Result<DiskRate> measure_disk_rate(const std::filesystem::path& path, uint64_t read_bytes) {
  Descriptor file;
  file.value = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (file.value < 0 && errno == EINVAL) file.value = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  if (file.value < 0 || ::fstat(file.value, &info) != 0) return failed(path, errno);
  if (info.st_size == 0) return invalid_argument(path.string() + ": is empty");
  const auto pages = (static_cast<uint64_t>(info.st_size) + kPage - 1) / kPage;
  const uint64_t length =
      std::clamp(align_up(read_bytes, kPage), kPage, std::min(kMostRead, pages * kPage));
  const uint64_t places = pages - length / kPage + 1;
  COLIBRI_ASSIGN(const auto pool, ThreadPool::create(kInFlight));
  COLIBRI_ASSIGN(const Memory memory,
                 Memory::allocate(kInFlight * length, "measuring the disk's speed"));
  std::memset(memory.data(), 0, memory.size());  // or the first reads would wait for pages
  std::atomic<uint64_t> next = 0;
  std::atomic<int> error = 0;
  // What one read brought; a failure is kept.
  const auto read = [&](unsigned worker) {
    // Multiples of the golden ratio lie far from each other.
    const uint64_t scattered = next.fetch_add(1) * 0x9e3779b97f4a7c15u >> 16;
    const ssize_t n = ::pread(file.value, memory.data() + worker * length, length,
                              static_cast<off_t>(scattered % places * kPage));
    if (n < 0) error = errno;
    return n < 0 ? uint64_t{0} : static_cast<uint64_t>(n);
  };

  DiskRate rate;
  rate.read_bytes = length;
  const auto began = Clock::now();
  for (int i = 0; i < kLoneReads; ++i) (void)read(0);
  rate.lone_read_seconds = seconds_since(began) / kLoneReads;

  std::atomic<uint64_t> bytes = 0;
  const auto start = Clock::now();
  // Each thread reads until the time is over.
  (void)pool->run(kInFlight, kInFlight, [&](unsigned worker, int64_t, int64_t) {
    do {
      bytes += read(worker);
    } while (error == 0 && seconds_since(start) < kSeconds);
    return colibri_status{COLIBRI_OK};
  });
  if (error != 0) return failed(path, error);
  rate.bytes_per_second = static_cast<double>(bytes) / seconds_since(start);
  return rate;
}

}  // namespace colibri::machine
