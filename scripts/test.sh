#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [PRESET]: installs what is missing, builds the preset (default: release) and runs its tests.
# Ends with "N passed, N failed"; exit 1 when a test failed. What this machine cannot run is skipped, named and not counted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}

if [ "$preset" = arm64-qemu ]; then
  scripts/setup.sh ci
  scripts/arm64_sysroot.sh
else
  scripts/setup.sh test
fi
cmake --preset "$preset" -DCOLIBRI_BUILD_TESTS=ON
cmake --build --preset "$preset"

# Two tests at a time: the machine this must pass on has two cores.
log=$(mktemp); trap 'rm -f "$log"' EXIT
status=0
ctest --preset "$preset" -j2 2>&1 | tee "$log" || status=$?

# ctest's own summary: "90% tests passed, 2 tests failed out of 20".
read -r failed total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+).*/\1 \2/p' "$log" | tail -n1) || {
  echo "test.sh: ctest ran no test" >&2
  exit 1
}
if [ "$status" != 0 ]; then
  echo "==== what the failed tests said (the last 60 lines of each)"
  awk 'function tell() { for (i = n > 60 ? n - 59 : 1; i <= n; i++) print said[i]; n = 0 }
       /^ *[0-9]+\/[0-9]+ Test +#/ { tell(); failed = /\*\*\*/ && !/\*\*\*Skipped/; if (failed) print; next }
       /^ +Start +[0-9]+:/ { tell(); failed = 0 }
       failed { said[++n] = $0 }
       END { tell() }' "$log"
fi
skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
echo "$((total - failed - skipped)) passed, $failed failed"
exit "$status"
