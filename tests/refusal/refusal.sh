#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# refusal.sh PLUGIN FEATURE COLIBRI MODEL EMULATOR...: on a processor without FEATURE, which EMULATOR is, COLIBRI refuses
# PLUGIN by name and reason, loads nothing of it, still works, and ends with exit 2 where a pipeline insists on it.
set -euo pipefail
plugin=$1 feature=$2 colibri=$3 model=$4
emulator=("${@:5}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $1"
  head -n 100 "$work"/out "$work"/err
  exit 1
}

"${emulator[@]}" "$colibri" plugins list >"$work/out" 2>"$work/err" || fail "plugins list: exit $?"
# Three lines: "refused  ID VERSION, ...", the file, the reason.
reason=$(grep -A2 -E "^refused +$plugin " "$work/out" | tail -n 1)
grep -wq -- "$feature" <<<"$reason" ||
  fail "plugins list does not show $plugin refused for want of $feature"

# The loader reports every file that it takes in.
"${emulator[@]}" -E LD_DEBUG=files "$colibri" plan "$model" >"$work/out" 2>"$work/err" || fail "plan: exit $?"
grep -q 'colibri_cpu_generic\.so' "$work/err" || fail "the loader's report does not name cpu_generic, which is used"
! grep -q "colibri_$plugin\.so" "$work/err" || fail "something of $plugin was loaded"

status=0
"${emulator[@]}" "$colibri" plan "$model" --set "plugins.operators.grouped_matmul=$plugin" \
  >"$work/out" 2>"$work/err" || status=$?
[ "$status" = 2 ] || fail "pinned to $plugin: exit $status, expected 2"
grep -q "$plugin" "$work/err" && grep -wq -- "$feature" "$work/err" || fail "the error names $plugin and $feature not"
echo "refused as expected: $(grep -m1 "$plugin" "$work/err")"
