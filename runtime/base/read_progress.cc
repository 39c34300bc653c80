// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/read_progress.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "runtime/base/file.h"
#include "runtime/base/memory.h"

namespace colibri {
namespace {

constexpr uint64_t kMostBytes = 1u << 30;  // of one attempt: answers are ints
constexpr int kMostBusy = 1000;

}  // namespace

ReadProgress::ReadProgress(const File& file, uint64_t offset, void* to, uint64_t n)
    : file_(&file), offset_(offset), wanted_(n), to_(static_cast<char*>(to)) {}

uint64_t ReadProgress::bytes() const {
  const uint64_t left = std::min(wanted_ - got_, kMostBytes);
  return file_->direct() ? align_up(left, kDirectAlignment) : left;
}

Status ReadProgress::failed(const std::string& what) const {
  return io_error(file_->path().string() + ": " + what);
}

Status ReadProgress::take(int64_t answer) {
  if (answer == -EINTR) return {};
  if (answer == -EAGAIN && ++busy_ < kMostBusy) return {};
  if (answer < 0) {
    if (!retried_ && answer != -EAGAIN) {
      retried_ = true;
      return {};
    }
    return failed("reading at byte " + std::to_string(offset()) +
                  " failed: " + std::generic_category().message(static_cast<int>(-answer)));
  }
  auto came = static_cast<uint64_t>(answer);
  // The rest of a direct read must begin at a block, too.
  if (file_->direct() && got_ + came < wanted_) came -= came % kDirectAlignment;
  got_ += came;
  if (came > 0) return {};
  if (!retried_) {
    retried_ = true;
    return {};
  }
  return failed("ends at byte " + std::to_string(offset() + static_cast<uint64_t>(answer)) +
                ", it was cut short while in use");
}

}  // namespace colibri
