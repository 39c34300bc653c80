#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# format.sh [--check]: formats every C, C++ and CUDA file by .clang-format, or only lists what differs (exit 1).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(-i)
[ "${1:-}" != --check ] || mode=(--dry-run --Werror)
# Public headers, and their frozen copies, are documents laid out by hand.
git ls-files -z -- '*.h' '*.cc' '*.c' '*.cu' '*.cuh' ':!runtime/include/*' ':!tests/abi/frozen_*' | xargs -0 -P2 -n20 clang-format-14 --style=file "${mode[@]}"
