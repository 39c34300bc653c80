#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Colibri's cache policies with libCacheSim, by the number of hits, on random traces and on route traces.

    check.py COLIBRI [TRACE...]

A random trace has one layer whose tokens need one expert each: then a visit is one access, which is what
libCacheSim knows. `colibri cache replay` simulates with the plugins and the store's own decisions;
libCacheSim's cache has the slots that the policy rules, those of the budget without the passage. A route trace is made into such accesses: the
experts of all layers, one after another."""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import libcachesim

EXPERTS = 400
ACCESSES = 30000
MOST_EXPERTS = 4096  # of a layer, as colibri reads traces
SIZES = (0.05, 0.08, 0.16, 0.375, 0.75)  # of all experts
LEAST_SLOTS = 20  # S3FIFO of libCacheSim admits nothing with fewer
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


def accesses(file):
    """The experts of a route trace one by one, and how many there are; of so many layers as colibri would take for one."""
    head, trace = {}, []
    for line in Path(file).read_text(encoding="ascii").splitlines()[1:]:
        name, *values = line.split()
        if not name.isdigit():
            head[name] = int(values[0])
        elif int(values[0]) < MOST_EXPERTS // head["experts"]:
            chosen = {int(expert) for token in values[1:] for expert in token.split(",")}
            trace += [int(values[0]) * head["experts"] + expert for expert in sorted(chosen)]
    return trace, min(head["layers"], MOST_EXPERTS // head["experts"]) * head["experts"]


def their_hits(cache, trace):
    hits = 0
    request = libcachesim.Request()
    request.obj_size = 1
    for expert in trace:
        request.obj_id = expert + 1
        hits += cache.get(request)
    return hits


def our_hits(colibri, trace, experts, folder):
    """{slots of the policy: {policy: hits}}"""
    file = Path(folder) / "trace"
    head = f"colibri-route-trace 1\nlayers 1\nexperts {experts}\ntop_k 1\nbundle_bytes 1\n"
    file.write_text(head + "".join(f"{step} 0 {expert}\n" for step, expert in enumerate(trace)), encoding="ascii")
    budgets = ",".join(str(max(int(experts * size), LEAST_SLOTS) + 2) for size in SIZES)
    command = [colibri, "cache", "replay", str(file), "--json", "--policies", ",".join(POLICIES), "--budgets", budgets]
    answer = subprocess.run(command + TEXTBOOK_LFU, check=True, capture_output=True, text=True).stdout
    return {point["ruled"]: {name: curve["hits"] for name, curve in point["policies"].items()}
            for point in json.loads(answer)["points"]}


def main():
    kinds = (uniform, skewed, drifting, scanning)
    traces = {f"{kind.__name__} {seed}": (kind(random.Random(seed)), EXPERTS) for kind in kinds for seed in range(3)}
    traces |= {Path(file).name: accesses(file) for file in sys.argv[2:]}
    compared = different = 0
    with tempfile.TemporaryDirectory() as folder:
        for where, (trace, experts) in traces.items():
            for slots, ours in our_hits(sys.argv[1], trace, experts, folder).items():
                for name, cache in POLICIES.items():
                    theirs = their_hits(cache(slots), trace)
                    compared += 1
                    if ours[name] != theirs:
                        different += 1
                        print(f"{where}, {slots} slots, {name}: {ours[name]} hits, theirs {theirs}")
    print(f"{different} differences in {compared} comparisons")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
