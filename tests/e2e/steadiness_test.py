#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""benchmarks/steadiness.py prints its figures, or one error. No time is judged.

    steadiness_test.py COLIBRI SOURCE
"""

import re
import subprocess
import sys
from pathlib import Path

COLIBRI, SOURCE = sys.argv[1], Path(sys.argv[2])


def steadiness(model):
    command = [sys.executable, SOURCE / "benchmarks/steadiness.py", model, "--colibri", COLIBRI, "--tokens", "20"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


NUMBER = r"\d+\.\d+"
LINES = [f"cpu_p99_over_p50 {NUMBER} loop {NUMBER}", f"wall_p99_over_p50 {NUMBER} loop {NUMBER}", f"waiting {NUMBER}",
         f"side_by_side {NUMBER}", f"idle_cpu {NUMBER}"]
done = steadiness(SOURCE / "models/demo")
assert done.returncode == 0, done.stderr
assert re.fullmatch("".join(f"steadiness {line}\n" for line in LINES), done.stdout), done.stdout

refused = steadiness(SOURCE / "models/none")
assert (refused.returncode, refused.stdout) == (1, ""), refused
assert "models/none" in refused.stderr and "Traceback" not in refused.stderr, refused.stderr
