#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# vendor_plugin_test.sh CMAKE BUILD SOURCE EMULATOR CMAKE_ARGUMENT...: installs BUILD into a temporary prefix, builds
# examples/vendor_plugin there with nothing else to see, and uses its plugins. EMULATOR may be empty.
set -euo pipefail
cmake=$1 build=$2 source=$3 emulator=$4
shift 4

temporary=$(mktemp -d "${TMPDIR:-/tmp}/colibri vendor 插件-XXXXXX")
trap 'rm -rf "$temporary"' EXIT
prefix=$temporary/prefix example=$temporary/example

fail() { echo "FAILED: $1" >&2; exit 1; }
colibri() { $emulator "$prefix/bin/colibri" "$@"; }
expect() { # text, pattern
  grep -Eq -- "$2" <<<"$1" || { printf '%s\n' "$1" >&2; fail "no line matches: $2"; }
}

"$cmake" --install "$build" --prefix "$prefix" >/dev/null
if grep -rIlF -e "$source" -e "$build" "$prefix"/{include,lib/cmake}; then fail "the package refers to the source tree"; fi

cp -r "$source/examples/vendor_plugin" "$example"
# A cross build looks for packages in its sysroot only, unless it is told the very folder.
where=-DCMAKE_PREFIX_PATH=$prefix
[ -z "$emulator" ] || where=-DColibri_DIR=$prefix/lib/cmake/Colibri
"$cmake" -S "$example" -B "$example/build" "$where" "$@" >/dev/null
"$cmake" --build "$example/build" >/dev/null
plugins=$example/build/lib/colibri/plugins

for plugin in acme_combine acme_fifo acme_top_n_sigma; do
  # Stripping leaves the manifest where it is.
  "${STRIP:-strip}" "$plugins/colibri_$plugin.so" 2>/dev/null || [ -n "$emulator" ] || fail "strip"
  checked=$(colibri plugins check "$plugins/colibri_$plugin.so") || { echo "$checked"; fail "plugins check $plugin"; }
  expect "$checked" "^passed +bad input"
  expect "$(colibri plugins inspect "$plugins/colibri_$plugin.so")" "^$plugin 1\.0\.0$"
done

model=$source/tests/golden/models/text_bf16
expect "$(colibri plugins check "$plugins/colibri_acme_combine.so")" "^passed +numerics"
listed=$(COLIBRI_MODEL=$model colibri plugins list "$example/pipeline.yaml")
expect "$listed" "^usable +acme_fifo 1\.0\.0"
expect "$listed" "^usable +acme_top_n_sigma 1\.0\.0"
expect "$listed" "^usable +cpu_generic "

plan=$(COLIBRI_MODEL=$model colibri plan "$example/pipeline.yaml")
expect "$plan" "policy acme_fifo"
expect "$plan" "^sampling +acme_top_n_sigma"
expect "$plan" "acme_combine"

# The lines that name the policy and the kernel are the only differences, and neither changes the answer.
run() { COLIBRI_MODEL=$model colibri run "$example/pipeline.yaml" -p "the fan" -n 12 "$@" 2>/dev/null; }
with_vendor=$(run) || fail "colibri run"
with_lru=$(run --set experts.policy.plugin=lru) || fail "colibri run with lru"
with_other=$(run --set plugins.operators.combine=cpu_generic) || fail "colibri run with another kernel"
[ "$with_vendor" = "$with_other" ] || fail "the kernel changed the answer"
[ -n "$with_vendor" ] || fail "colibri run printed nothing"
[ "$with_vendor" = "$with_lru" ] || fail "the policy changed the answer"
wrong=$(run --set 'sampling=[{plugin: acme_top_n_sigma, options: {n: 11}}]' 2>&1) && fail "n = 11 was taken"
echo "vendor plugins work: $with_vendor"
