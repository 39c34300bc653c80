#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh BUILD_DIR: what must be shown on AVX-512, in the emulated machine (README.md). Ends with "N passed, N failed".
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The guest's folder: an installed Colibri, the test programs, the golden checkpoints.
guest=$work/guest plugins=lib/colibri/plugins
mkdir -p "$guest/bin" "$guest/$plugins"
cp "$build/bin/colibri" "$build/tests/conformance/colibri_kernel_conformance" \
  "$build/tests/engine/colibri_logit_digests" "$guest/bin/"
cp "$build/$plugins"/*.so "$guest/$plugins/"
rm -f "$guest/$plugins/colibri_cpu_avx2.so" # wrong in this emulator (README.md), and tested on real processors
cp -rL "$build/share" "$guest/"
mkdir "$guest/golden"
cp -r "$here/../golden/models" "$here/../golden/digests.txt" "$guest/golden/"
cat >"$guest/commands" <<COMMANDS
0 bin/colibri plugins list
0 bin/colibri_kernel_conformance --quick $plugins/colibri_cpu_avx512.so $plugins/colibri_cpu_avx512_vnni.so
0 bin/colibri_logit_digests golden --quick
COMMANDS

status=0
"$here/boot.sh" corei7_icelake_u "$guest" | tee "$work/serial" || status=$?
[ "$status" != 125 ] || { echo "0 passed, 1 failed"; exit 1; }

passed=0 failed=0
expect() { # what, pattern of a line of the serial output
  if grep -qE "$2" "$work/serial"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
  fi
}
expect "plugins list" '^== 0 .*colibri plugins list'
expect "cpu_avx512 is usable" '^usable +cpu_avx512 '
expect "cpu_avx512_vnni is usable" '^usable +cpu_avx512_vnni '
expect "conformance of both" '^== 0 .*colibri_kernel_conformance'
expect "the engine's bytes" '^== 0 .*colibri_logit_digests'
expect "the engine ran on cpu_avx512" '^cpu_avx512: [1-9][0-9]* configurations identical'
expect "the engine ran on cpu_avx512_vnni" '^cpu_avx512_vnni: [1-9][0-9]* configurations identical'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
