#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh SECONDS [TARGET...]: builds the fuzz targets and runs each (default: all) for SECONDS, starting from its corpus in
# tests/fuzz/corpus. A finding is kept in build/fuzz/findings. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} =~ ^[0-9]+$ ]] || { echo "usage: fuzz.sh SECONDS [TARGET...]" >&2; exit 2; }
seconds=$1
shift

scripts/setup.sh ci
cmake --preset fuzz
cmake --build --preset fuzz

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  for program in build/fuzz/fuzz/*_fuzz; do
    [ -x "$program" ] || continue
    program=${program##*/}
    targets+=("${program%_fuzz}")
  done
fi

passed=0 failed=0
mkdir -p build/fuzz/findings
for target in "${targets[@]}"; do
  # What libFuzzer discovers grows beside the build; the committed corpus is only read.
  found=build/fuzz/corpus/$target
  mkdir -p "$found"
  echo "== $target"
  if build/fuzz/fuzz/"${target}_fuzz" "$found" tests/fuzz/corpus/"$target" -max_total_time="$seconds" -timeout=10 \
      -rss_limit_mb=2048 -artifact_prefix=build/fuzz/findings/"$target-" -print_final_stats=1 -verbosity=0; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
