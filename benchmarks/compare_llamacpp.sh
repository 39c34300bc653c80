#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare_llamacpp.sh [--quick] [OPTION...]: colibri against llama.cpp on made-up models of real shapes; docs/benchmarks.md
# says what it prints, --help what there is to set. Needs the network and a compiler the first time: llama.cpp is built here,
# for this processor. Everything is kept in build/compare_llamacpp (COLIBRI_COMPARE_FOLDER), but for the models.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${COLIBRI_COMPARE_FOLDER:-build/compare_llamacpp}
venv=$folder/venv

if ! cmp -s benchmarks/requirements.txt "$venv/installed.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  # Not a wheel that someone else built: it would leave out instructions that this processor has.
  CMAKE_ARGS="-DGGML_NATIVE=ON -DCMAKE_BUILD_TYPE=Release" "$venv/bin/pip" install --no-cache-dir \
    --no-binary llama-cpp-python --requirement benchmarks/requirements.txt
  cp benchmarks/requirements.txt "$venv/installed.txt"
fi
exec "$venv/bin/python" benchmarks/compare_llamacpp.py --folder "$folder" "$@"
