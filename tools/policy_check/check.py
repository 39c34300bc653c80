#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Colibri's cache policies with libCacheSim, by the number of hits, on random traces.

    check.py COLIBRI

A trace has one layer whose tokens need one expert each: then a visit is one access, which is what
libCacheSim knows. `colibri cache replay` simulates with the plugins and the store's own decisions;
one slot of the budget is the passage, so libCacheSim's cache has one slot less."""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import libcachesim

EXPERTS = 400
ACCESSES = 30000
SLOTS = (20, 33, 64, 150, 300)  # S3FIFO of libCacheSim admits nothing below 20
POLICIES = {"lru": libcachesim.LRU, "lfu": libcachesim.LFU, "s3fifo": libcachesim.S3FIFO, "arc": libcachesim.ARC}
TEXTBOOK_LFU = ["--option", "lfu.half_life=0", "--option", "lfu.remember=false"]


def uniform(chance):
    return [chance.randrange(EXPERTS) for _ in range(ACCESSES)]


def skewed(chance):
    """Few experts take most accesses."""
    return chance.choices(range(EXPERTS), [1 / (rank + 1) for rank in range(EXPERTS)], k=ACCESSES)


def drifting(chance):
    """The same, but who is popular moves on."""
    return [(expert + i // 200) % EXPERTS for i, expert in enumerate(skewed(chance))]


def scanning(chance):
    """Skewed, with passes over everything in between."""
    trace = []
    while len(trace) < ACCESSES:
        trace += skewed(chance)[:1500] + list(range(EXPERTS))
    return trace[:ACCESSES]


def their_hits(cache, trace):
    hits = 0
    request = libcachesim.Request()
    request.obj_size = 1
    for expert in trace:
        request.obj_id = expert + 1
        hits += cache.get(request)
    return hits


def our_hits(colibri, trace, folder):
    """{slots of the policy: {policy: hits}}"""
    file = Path(folder) / "trace"
    head = f"colibri-route-trace 1\nlayers 1\nexperts {EXPERTS}\ntop_k 1\nbundle_bytes 1\n"
    file.write_text(head + "".join(f"{step} 0 {expert}\n" for step, expert in enumerate(trace)), encoding="ascii")
    budgets = ",".join(str(slots + 1) for slots in SLOTS)
    command = [colibri, "cache", "replay", str(file), "--json", "--policies", ",".join(POLICIES), "--budgets", budgets]
    answer = subprocess.run(command + TEXTBOOK_LFU, check=True, capture_output=True, text=True).stdout
    return {point["slots"] - 1: {name: curve["hits"] for name, curve in point["policies"].items()}
            for point in json.loads(answer)["points"]}


def main():
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in (uniform, skewed, drifting, scanning):
            for seed in range(3):
                trace = kind(random.Random(seed))
                for slots, ours in our_hits(sys.argv[1], trace, folder).items():
                    for name, cache in POLICIES.items():
                        theirs = their_hits(cache(slots), trace)
                        if ours[name] != theirs:
                            different += 1
                            print(f"{kind.__name__} {seed}, {slots} slots, {name}: {ours[name]} hits, theirs {theirs}")
    print(f"{different} differences in {4 * 3 * len(SLOTS) * len(POLICIES)} comparisons")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
