#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# plugins_check_test.sh FOLDER COLIBRI...: our own plugins pass `colibri plugins check`, as far as they suit this machine.
set -euo pipefail
folder=$1 colibri=("${@:2}")
failed=0 checked=0 kernels=0
for file in "$folder"/*.so; do
  "${colibri[@]}" plugins inspect "$file" | grep -q '^suits this machine' || continue
  if [[ $file == */colibri_cpu_* ]]; then # one of them: kernel_conformance_* compares each of them at length
    [ "$kernels" = 0 ] || continue
    kernels=1
  fi
  checked=$((checked + 1))
  if ! found=$("${colibri[@]}" plugins check "$file"); then
    printf '%s\n%s\n' "$file" "$found"
    failed=1
  fi
done
[ "$checked" -gt 0 ] || { echo "FAILED: no plugin in $folder suits this machine"; exit 1; }
[ "$failed" = 0 ] && echo "$checked plugins keep their promises"
exit "$failed"
