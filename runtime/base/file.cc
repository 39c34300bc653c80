// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "runtime/base/read_progress.h"

namespace colibri {
namespace {

fault_injection::ReadFault& injected() {
  static fault_injection::ReadFault fault;
  return fault;
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

void fault_injection::set_read_fault(ReadFault fault) {
  injected() = std::move(fault);
}

int64_t fault_injection::read_fault(const File& file, uint64_t offset, uint64_t bytes) {
  const ReadFault& fault = injected();
  return fault ? fault(file.path(), offset, bytes) : static_cast<int64_t>(bytes);
}

File::File(std::filesystem::path path, int descriptor, uint64_t size)
    : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      direct_(other.direct_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(direct_, other.direct_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer. It has no effect on regular files.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    const std::string text = path.string() + ": cannot be opened: " + reason(error);
    return error == ENOENT || error == ENOTDIR ? not_found(text) : io_error(text);
  }
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return invalid_argument(path.string() + ": is " + kind_of(status.st_mode) +
                            ", not a regular file");
  }
  return File(path, descriptor, static_cast<uint64_t>(status.st_size));
}

Result<File> File::open_direct() const {
  File file(path_, ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT), size_);
  if (file.descriptor_ < 0) {
    return unsupported(path_.string() + ": cannot be read directly: " + reason(errno));
  }
  struct stat mine = {}, its = {};
  if (::fstat(descriptor_, &mine) != 0 || ::fstat(file.descriptor_, &its) != 0 ||
      mine.st_dev != its.st_dev || mine.st_ino != its.st_ino) {
    return unsupported(path_.string() + ": was replaced after it was opened");
  }
  file.direct_ = true;
  // Some filesystems grant the open and refuse the reads.
  alignas(kDirectAlignment) char block[kDirectAlignment];
  if (::pread(file.descriptor_, block, sizeof(block), 0) < 0) {
    return unsupported(path_.string() + ": cannot be read directly: " + reason(errno));
  }
  return file;
}

Status File::check_range(uint64_t offset, uint64_t n) const {
  if (offset <= size_ && n <= size_ - offset) return {};
  return io_error(path_.string() + ": bytes " + std::to_string(offset) + " to " +
                  std::to_string(offset + n) + " lie outside its " + std::to_string(size_) +
                  " bytes");
}

Status File::read(uint64_t offset, void* to, uint64_t n) const {
  COLIBRI_TRY(check_range(offset, n));
  ReadProgress progress(*this, offset, to, n);
  while (!progress.done()) {
    int64_t answer = fault_injection::read_fault(*this, progress.offset(), progress.bytes());
    if (answer > 0) {
      answer = ::pread(descriptor_, progress.to(), static_cast<size_t>(answer),
                       static_cast<off_t>(progress.offset()));
      if (answer < 0) answer = -errno;
    }
    COLIBRI_TRY(progress.take(answer));
  }
  return {};
}

void File::drop_cache() const {
  (void)::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);  // a wish
}

Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  COLIBRI_ASSIGN(const File file, File::open(path));
  if (file.size() > max_bytes) {
    return invalid_argument(path.string() + ": has " + std::to_string(file.size()) +
                            " bytes, more than the " + std::to_string(max_bytes) +
                            " that are allowed here");
  }
  std::string text(file.size(), '\0');
  COLIBRI_TRY(file.read(0, text.data(), text.size()));
  return text;
}

Status write_file(const std::filesystem::path& path, std::string_view content) {
  errno = 0;
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return io_error(path.string() + ": cannot be written: " + reason(errno));
  const bool whole = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const bool closed = std::fclose(file) == 0;
  if (whole && closed) return {};
  return io_error(path.string() + ": writing failed: " + reason(errno == 0 ? EIO : errno));
}

}  // namespace colibri
