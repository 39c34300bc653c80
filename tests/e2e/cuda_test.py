#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda_test.py COLIBRI SOURCE: what the plugin cuda is on a machine that it cannot use: listed with its reason; a pipeline
that prefers it runs on the CPU, the same answer with one line of explanation; one that names it for an operator or as the place exits 2.
Exit 77 (skipped) where it can be used."""
import json
import subprocess
import sys

COLIBRI, SOURCE = sys.argv[1:3]
PIPELINE = f"{SOURCE}/configs/pipelines/plc_summary.yaml"


def run(*arguments):
    with open(f"{SOURCE}/models/demo/sample_log.txt", "rb") as log:
        return subprocess.run([COLIBRI, *arguments], stdin=log, capture_output=True, text=True)


def expect(what, condition, shown):
    if not condition:
        sys.exit(f"FAILED: {what}\n{shown}")


listed = run("plugins", "list", "--json")
cuda = next(plugin for plugin in json.loads(listed.stdout)["plugins"] if plugin["id"] == "cuda")
if cuda["accepted"]:
    print("skipped: this machine has a GPU that the plugin can use")
    sys.exit(77)
reason = cuda["reason"]
expect("a reason that names NVIDIA's driver or device", "NVIDIA" in reason or "has code for sm_" in reason, reason)
print(f"refused: {reason}")

few = ("-n", "8")
plain = run("run", PIPELINE, *few)
preferred = run("run", PIPELINE, *few, "--set", "plugins.prefer=[cuda]")
expect("prefer runs", preferred.returncode == 0, preferred.stderr)
expect("the same answer", preferred.stdout == plain.stdout and plain.stdout, preferred.stdout)
lines = [line for line in preferred.stderr.splitlines() if "cuda" in line]
expect(
    "one line of explanation",
    len(lines) == 1 and lines[0].endswith(f"plugins.prefer: running without plugin cuda: {reason}"),
    preferred.stderr,
)

placed = run("run", PIPELINE, *few, "--set", "placement=cuda")
expect("a placement exits 2", placed.returncode == 2 and placed.stdout == "", placed)
expect("its reason", f"placement: plugin cuda cannot be used: {reason}" in placed.stderr, placed.stderr)

for operator in ("grouped_matmul", "attention", "norm"):
    pinned = run("run", PIPELINE, *few, "--set", f"plugins.operators.{operator}=cuda")
    expect("a pin exits 2", pinned.returncode == 2, pinned)
    expect("the reason of a pin", f"plugin cuda cannot be used: {reason}" in pinned.stderr, pinned.stderr)
    expect("no answer", pinned.stdout == "", pinned.stdout)
