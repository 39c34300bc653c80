# SPDX-License-Identifier: Apache-2.0
# Cross build for 64-bit Arm with Debian's cross compiler against the sysroot that scripts/arm64_sysroot.sh makes; programs
# run under qemu's user emulation, with every instruction set extension it knows.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

# The same default as in scripts/arm64_sysroot.sh.
if(DEFINED ENV{XDG_CACHE_HOME})
  set(CMAKE_SYSROOT $ENV{XDG_CACHE_HOME}/colibri/arm64-sysroot)
else()
  set(CMAKE_SYSROOT $ENV{HOME}/.cache/colibri/arm64-sysroot)
endif()
if(NOT EXISTS ${CMAKE_SYSROOT}/packages)
  message(FATAL_ERROR "No arm64 sysroot in ${CMAKE_SYSROOT}. Run scripts/arm64_sysroot.sh")
endif()

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -cpu max -L ${CMAKE_SYSROOT})

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
