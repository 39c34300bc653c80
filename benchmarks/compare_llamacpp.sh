#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare_llamacpp.sh [--quick] [OPTION...]: colibri against llama.cpp on made-up models of real shapes; docs/benchmarks.md
# says what it prints, --help what there is to set. Everything is kept in build/compare_llamacpp (COLIBRI_COMPARE_FOLDER), but
# for the models.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. benchmarks/llamacpp_venv.sh
exec "$python" benchmarks/compare_llamacpp.py --folder "$folder" "$@"
