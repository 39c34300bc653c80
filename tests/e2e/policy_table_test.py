#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/synth_model/policy_table.py on a trace whose rates are plain: the table, and one clear error.

    policy_table_test.py COLIBRI SOURCE
"""

import subprocess
import sys
import tempfile
from pathlib import Path

COLIBRI, SOURCE = sys.argv[1], Path(sys.argv[2])
EXPERTS, STEPS = 100, 1000


def table(trace):
    command = [sys.executable, SOURCE / "tools/synth_model/policy_table.py", COLIBRI, trace]
    return subprocess.run(command, capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory() as folder:
    trace = Path(folder) / "rounds"
    head = f"colibri-route-trace 1\nlayers 1\nexperts {EXPERTS}\ntop_k 1\nbundle_bytes 1\n"
    # All experts in turn: recency drops each just before it is asked for. The passage takes 2 slots, and the optimum keeps
    # the others of every round but the first.
    trace.write_text(head + "".join(f"{step} 0 {step % EXPERTS}\n" for step in range(STEPS)), encoding="ascii")
    done = table(trace)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "| shape, budget | lru | lfu | s3fifo | arc | belady |", lines
    for line, budget in zip(lines[2:7], (10, 25, 40, 60, 75), strict=True):
        name, lru, *_, belady = [cell.strip() for cell in line.strip("|").split("|")]
        assert name == ("rounds, " if budget == 10 else "") + f"{budget} %", line
        most = f"{0.9 * (budget - 2):.1f}"
        assert (lru, belady) == (f"0.0 (-{most})", most), line
    for line, budget in zip(lines[8:], (10, 25, 40, 60, 75), strict=True):
        assert line.startswith(f"rounds, {budget} %: the default, arc, at most 1 point below lru: yes; "), line

    refused = table(Path(folder) / "none")
    assert (refused.returncode, refused.stdout) == (1, ""), refused
    assert "none" in refused.stderr and "Traceback" not in refused.stderr, refused.stderr
