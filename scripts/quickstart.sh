#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh: from a fresh clone to an answer. Installs what is missing, builds, and lets the bundled model summarise
# the bundled controller log. The answer goes to standard output, everything else to standard error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
{
  scripts/setup.sh build
  cmake --preset release -DCOLIBRI_BUILD_TESTS=OFF
  cmake --build --preset release
} >&2
build/release/bin/colibri run configs/pipelines/plc_summary.yaml <models/demo/sample_log.txt
