#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How evenly colibri decodes, what it leaves to others, and what it takes while it has nothing to do.

    benchmarks/steadiness.py MODEL [--colibri build/release/bin/colibri] [--tokens 1000] [--threads 2]

prints

    steadiness cpu_p99_over_p50 <of the CPU time of a token> loop <of the fixed loop's of `bench --steady`>
    steadiness wall_p99_over_p50 <of its time> loop <of the loop's>
    steadiness waiting <percent of the threads' time in which they wait for each other>
    steadiness side_by_side <tokens per second of two processes together over those of one alone>
    steadiness idle_cpu <CPU seconds a second between requests>

MODEL is a pipeline, a folder or a file; its model should be larger than the processor's caches."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from colibri_c import Colibri

PROMPT = 256  # tokens before those that are timed
ROUNDS = 4
IDLE_SECONDS = 2


def idle_cpu(arguments: argparse.Namespace) -> float:
    """Of this process with a model and a context, through the C interface, behind a request."""
    with Colibri(arguments.colibri, arguments.model, arguments.threads, 64) as colibri:
        colibri.forward(list(range(16)))
        time.sleep(0.1)  # threads stay awake for a moment
        cpu, began = time.process_time(), time.perf_counter()
        time.sleep(IDLE_SECONDS)
        return (time.process_time() - cpu) / (time.perf_counter() - began)


def bench(arguments: argparse.Namespace, *more: str) -> subprocess.Popen:
    return subprocess.Popen([arguments.colibri, "bench", arguments.model, "--json", "-t", str(arguments.threads),
                             "-p", str(PROMPT), *more], stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen) -> dict:
    out = process.communicate()[0]
    if process.returncode != 0:
        sys.exit(f"colibri bench failed with exit {process.returncode}")
    return json.loads(out)["tests"][0]["decode"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--colibri", default="build/release/bin/colibri", type=Path)
    parser.add_argument("--tokens", default=1000, type=int)
    parser.add_argument("--threads", default=2, type=int)
    arguments = parser.parse_args()

    few = str(max(1, arguments.tokens // ROUNDS))
    decode = result(bench(arguments, "-n", few, "-r", str(ROUNDS), "--steady", "--breakdown"))
    for what, of in (("cpu", "cpu_seconds"), ("wall", "seconds")):
        token, loop = (decode[f"{name}_{of}"]["p99"] / decode[f"{name}_{of}"]["p50"] for name in ("token", "loop"))
        print(f"steadiness {what}_p99_over_p50 {token:.3f} loop {loop:.3f}")
    parts = decode["breakdown"]
    print(f"steadiness waiting {100 * parts['waiting_thread_seconds'] / (parts['threads'] * parts['seconds']):.1f}")

    alone = result(bench(arguments, "-n", few, "-r", str(ROUNDS)))["tokens_per_second"]["median"]
    pair = [bench(arguments, "-n", few, "-r", str(ROUNDS)) for _ in range(2)]
    together = sum(result(each)["tokens_per_second"]["median"] for each in pair)
    print(f"steadiness side_by_side {together / alone:.2f}")
    print(f"steadiness idle_cpu {idle_cpu(arguments):.5f}")


if __name__ == "__main__":
    main()
