// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/replaced_malloc.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace {

bool fails() {
  if (!colibri::test::allocation_fails()) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) {
  return fails() ? nullptr : __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  return fails() ? nullptr : __libc_calloc(n, size);
}
void* realloc(void* old, size_t n) {
  return fails() ? nullptr : __libc_realloc(old, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  return fails() ? nullptr : __libc_memalign(alignment, n);
}
int posix_memalign(void** to, size_t alignment, size_t n) {
  if (fails()) return ENOMEM;
  *to = __libc_memalign(alignment, n);
  return *to == nullptr ? ENOMEM : 0;
}
void* mmap(void* at, size_t n, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && fails()) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, n, protection, flags, file, offset));
}
}
