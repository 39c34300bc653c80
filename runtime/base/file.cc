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

namespace colibri {
namespace {

fault_injection::ReadFault& read_fault() {
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
  read_fault() = std::move(fault);
}

File::File(std::filesystem::path path, int descriptor, uint64_t size)
    : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
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

Status File::read(uint64_t offset, void* to, uint64_t n) const {
  if (offset > size_ || n > size_ - offset) {
    return io_error(path_.string() + ": bytes " + std::to_string(offset) + " to " +
                    std::to_string(offset + n) + " lie outside its " + std::to_string(size_) +
                    " bytes");
  }
  if (read_fault()) COLIBRI_TRY(read_fault()(path_, offset, n));
  char* at = static_cast<char*>(to);
  while (n > 0) {
    const ssize_t got =
        ::pread(descriptor_, at, std::min<uint64_t>(n, 1u << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return io_error(path_.string() + ": reading at byte " + std::to_string(offset) +
                      " failed: " + reason(errno));
    }
    if (got == 0) {
      return io_error(path_.string() + ": ends at byte " + std::to_string(offset) +
                      ", it was cut short while in use");
    }
    at += got;
    offset += static_cast<uint64_t>(got);
    n -= static_cast<uint64_t>(got);
  }
  return {};
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
