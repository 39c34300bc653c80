#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embed_c_test.sh CMAKE BUILD SOURCE EMULATOR CMAKE_ARGUMENT...: installs BUILD into a temporary prefix, builds
# examples/embed_c against it, and checks what it prints. EMULATOR may be empty.
set -euo pipefail
cmake=$1 build=$2 source=$3 emulator=$4
shift 4

temporary=$(mktemp -d "${TMPDIR:-/tmp}/colibri embed 嵌入-XXXXXX")
trap 'rm -rf "$temporary"' EXIT
prefix=$temporary/prefix example=$temporary/example

fail() { echo "FAILED: $1" >&2; exit 1; }

"$cmake" --install "$build" --prefix "$prefix" >/dev/null
cp -r "$source/examples/embed_c" "$example"
"$cmake" -S "$example" -B "$example/build" "-DCMAKE_PREFIX_PATH=$prefix" "$@" >/dev/null
"$cmake" --build "$example/build" >/dev/null
embed() { $emulator "$example/build/embed" "$@"; }

printed=$(embed "$source/models/demo" "<|en|>") || fail "embed on models/demo"
[ "$(wc -l <<<"$printed")" = 5 ] || fail "not five lines: $printed"
# Probabilities descend and stay within 100 %.
awk '{ sum += $1; if (NR > 1 && $1 > last) exit 1; last = $1 } END { exit !(sum > 0 && sum <= 100.01) }' <<<"$printed" ||
  fail "probabilities: $printed"
# The most likely token is the one that greedy decoding takes.
first=$($emulator "$prefix/bin/colibri" run "$source/models/demo" -p "<|en|>" -n 1 --json 2>/dev/null |
  sed -E 's/.*"ids":\[([0-9]+)\].*/\1/')
[ "$(awk 'NR == 1 { print $3 }' <<<"$printed")" = "$first" ] || fail "greedy takes $first: $printed"

embed "$temporary/none" x 2>"$temporary/error" && fail "a missing model was loaded"
grep -q "^load: .*none" "$temporary/error" || fail "no reason: $(cat "$temporary/error")"
echo "embed_c works"
