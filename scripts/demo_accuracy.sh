#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo_accuracy.sh: how often the demo model answers the 1,000 test logs, which it was never trained on, with exactly the
# reference text. Prints lines "accuracy <type> <percent>"; exit 1 if a mark is missed (bf16 90, q8_0 at most 1 point
# less, q4_0 at most 5 points less). Options go to the program: --first N takes only the first N logs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
{
  scripts/setup.sh test
  cmake --preset release -DCOLIBRI_BUILD_TESTS=ON
  cmake --build --preset release
} >&2
exec build/release/tests/demo/colibri_demo_accuracy "$@"
