// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/writable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace colibri {

WritableFile::WritableFile(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

WritableFile::WritableFile(WritableFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

WritableFile& WritableFile::operator=(WritableFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

WritableFile::~WritableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status WritableFile::failed(const char* what) const {
  const int error = errno;
  return io_error(path_.string() + ": " + what + ": " + std::generic_category().message(error));
}

Result<WritableFile> WritableFile::open(const std::filesystem::path& path) {
  WritableFile file(path, ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (file.descriptor_ < 0) return file.failed("cannot be written");
  return file;
}

Status WritableFile::write(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(descriptor_, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30),
                 static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return failed("writing failed");
    bytes.remove_prefix(static_cast<size_t>(done));
    offset += static_cast<uint64_t>(done);
  }
  return {};
}

Status WritableFile::resize(uint64_t bytes) {
  return ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0 ? Status()
                                                                  : failed("cannot be resized");
}

Status WritableFile::sync() {
  return ::fsync(descriptor_) == 0 ? Status() : failed("cannot be brought to the disk");
}

}  // namespace colibri
