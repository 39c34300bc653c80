#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare_streaming.sh [--quick] [OPTION...]: colibri against llama.cpp on a model that is larger than memory, which a balloon
# makes small; docs/benchmarks.md says what it prints, --help what there is to set. llama.cpp is kept in
# build/compare_llamacpp (COLIBRI_COMPARE_FOLDER).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. benchmarks/llamacpp_venv.sh
exec "$python" benchmarks/compare_streaming.py "$@"
