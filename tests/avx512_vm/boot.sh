#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# boot.sh CPU FOLDER: runs the commands of FOLDER in an emulated machine; see README.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cpu=$1 folder=$2

# The kernel, once: the newest cloud kernel of this Debian.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/colibri/avx512-vm
kernel=$cache/vmlinuz
if [ ! -f "$kernel" ]; then
  mkdir -p "$cache"
  download=$(mktemp -d "$cache/kernel.XXXXXX")
  package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image-/ { print $2; exit }')
  (cd "$download" && apt-get -qq -o APT::Sandbox::User= download "${package:-linux-image-cloud-amd64}" && dpkg -x ./*.deb .) >&2
  mv "$download"/boot/vmlinuz-* "$kernel"
  rm -rf "$download"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root iso=$work/iso
mkdir -p "$root/dev" "$root/w" "$iso/isolinux"
cp -rL "$folder/." "$root/w/"
gcc -O1 -static -o "$root/init" "$here/init.c"

# Every shared library that a program or plugin of the folder needs, at its own path. The loader of a library stands in
# the list as a bare path.
while IFS= read -r -d '' file; do
  { ldd "$file" 2>/dev/null || true; } | grep -oE '/[^ )]+' || true
done < <(find "$root/w" -type f \( -perm -u+x -o -name '*.so*' \) -print0) | sort -u |
  while IFS= read -r library; do
    case $library in "$root"/*) continue ;; esac
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
find "$root" -type f \( -perm -u+x -o -name '*.so*' \) -exec strip -g {} + 2>/dev/null || true

(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$iso/isolinux/initrd"
cp "$kernel" "$iso/isolinux/vmlinuz"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$iso/isolinux/"
cat >"$iso/isolinux/isolinux.cfg" <<'CFG'
default guest
prompt 0
timeout 0
label guest
  kernel vmlinuz
  initrd initrd
  append console=ttyS0,115200 nosmp random.trust_cpu=on apparmor=0 lsm=capability nokaslr mitigations=off quiet loglevel=3 clearcpuid=580,515,321,323
CFG
cd "$work"
genisoimage -quiet -o boot.iso -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 \
  -boot-info-table iso
sed "s/@CPU@/$cpu/" "$here/bochsrc" >bochsrc
echo c >start # the emulator's debugger, if built in, waits for "continue"

# A time limit against a guest that hangs; a good run ends itself.
timeout "${LIMIT:-1800}" bochs -q -f bochsrc -rc start </dev/null >bochs.out 2>&1 || true
tr -d '\r' <serial.txt 2>/dev/null || true
if ! grep -q '^== guest: ' serial.txt 2>/dev/null; then
  echo "boot.sh: the guest ended without a verdict" >&2
  tail -n 5 bochs.out bochs.log >&2 || true
  exit 125
fi
tr -d '\r' <serial.txt | grep -qE '^== guest: [1-9][0-9]* commands, 0 unexpected$'
