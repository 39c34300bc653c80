#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tidy.sh: runs clang-tidy with the checks of .clang-tidy over our own sources (tests excluded), as the release build
# compiles them. Exit 1 on a finding.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh ci
cmake --preset release >/dev/null

# The flags are GCC's: those that clang does not know are left out, and its warnings are not what is asked here.
mkdir -p build/tidy
sed -E 's/ (-fno-gnu-unique|-Wno-restrict)\b//g' build/release/compile_commands.json >build/tidy/compile_commands.json

# Sources of another machine have no entry in the compile database.
git ls-files -z -- 'runtime/*.cc' 'plugins/*.cc' ':!*_test.cc' ':!plugins/cpu_neon/*' |
  xargs -0 -P2 -n4 clang-tidy-14 -p build/tidy --quiet --warnings-as-errors='*' \
    --extra-arg=-Wno-error --extra-arg=-Wno-everything 2> >(grep -v ' warnings\? generated' >&2)
