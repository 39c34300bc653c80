#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the arm64 sysroot that the preset arm64-qemu builds against and runs in: the libraries of setup.sh and all they
# depend on, as Debian's arm64 packages, unpacked in a folder. Needs no root: apt works on its own state, so the system
# keeps its one architecture. Quick when done; made anew when the list of packages changes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sysroot=${XDG_CACHE_HOME:-$HOME/.cache}/colibri/arm64-sysroot

mapfile -t packages < <({ "$here/setup.sh" list build; "$here/setup.sh" list test; } |
  grep -E '^(lib.*|nlohmann-json3)-dev$')
mkdir -p "$(dirname "$sysroot")"
exec {lock}>"$sysroot.lock"
flock "$lock" # one at a time
if [ -f "$sysroot/packages" ] && [ "$(cat "$sysroot/packages")" = "${packages[*]}" ]; then exit 0; fi

work=$(mktemp -d "$sysroot.XXXXXX")
trap 'rm -rf "$work" || true' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
: >"$work/status"
cat >"$work/apt.conf" <<CONF
Dir::State "$work";
Dir::State::Lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
APT::Architecture "arm64";
#clear APT::Architectures;
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Acquire::Languages "none";
CONF
export APT_CONFIG=$work/apt.conf
echo "arm64_sysroot.sh: downloading ${packages[*]} for arm64" >&2
apt-get -qq update >&2
apt-get -qq install -y --no-install-recommends --download-only "${packages[@]}" >&2
for deb in "$work"/cache/archives/*.deb; do dpkg -x "$deb" "$work/root"; done
echo "${packages[*]}" >"$work/root/packages"
# The old one may be in use: it is moved aside at once and removed with the rest.
[ ! -d "$sysroot" ] || mv -T "$sysroot" "$work/old"
mv -T "$work/root" "$sysroot"
