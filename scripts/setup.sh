#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh [build|test|ci]   install the Debian packages to build (the default), also to test, also to run .ci/run
# setup.sh list GROUP        print the packages of one group
# Quick when nothing is missing. Installs as root, else through sudo.
set -euo pipefail

build=(
  ccache cmake g++ ninja-build pkg-config
  libboost-dev       # Boost.DLL loads the plugins
  libcli11-dev       # command line
  libpcre2-dev       # pre-tokenizer patterns
  libsentencepiece-dev  # tokenizer.model
  libsimdjson-dev    # tokenizer.json, safetensors headers
  libsodium-dev      # ChaCha20 for seeded sampling
  liburing-dev       # reads of experts
  libutf8proc-dev    # NFC
  libxxhash-dev      # checksums of .colibri files (headers only)
  libyaml-cpp-dev
  nlohmann-json3-dev
)
test=(
  libboost-context-dev  # the fibers that CUDA kernels are tested on
  libdnnl-dev libopenblas-pthread-dev  # the plugins cpu_onednn and cpu_blas
  libgmock-dev libgtest-dev python3
  qemu-user-static   # processors that lack what a plugin needs
)
ci=(
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev
  g++-aarch64-linux-gnu
  bochs bochsbios cpio genisoimage isolinux syslinux-common vgabios  # the emulated AVX-512 machine
)

case "${1:-build}" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  ci) wanted=("${build[@]}" "${test[@]}" "${ci[@]}") ;;
  list)
    case "${2:-}" in
      build) printf '%s\n' "${build[@]}" ;;
      test) printf '%s\n' "${test[@]}" ;;
      ci) printf '%s\n' "${ci[@]}" ;;
      *) echo "setup.sh list: no group '${2:-}' (build, test or ci)" >&2; exit 2 ;;
    esac
    exit 0 ;;
  *) echo "setup.sh: unknown argument '$1' (build, test, ci, or list GROUP)" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: needs Debian 12 or a relative of it (no apt-get here). Install by hand: ${wanted[*]}" >&2
  exit 2
fi

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
  sed -n 's/^installed //p' || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup.sh: not root and no sudo. As root, run: apt-get install ${missing[*]}" >&2
    exit 2
  fi
  as_root=(sudo)
fi
echo "setup.sh: installing ${missing[*]}" >&2
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
"${apt[@]}" update >&2
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >&2
