#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares colibri with llama.cpp on a model that is larger than memory: compare_streaming.sh runs it.

A balloon leaves so much memory for weights and page cache as some percent of the model. Both programs get the same weights
(a GGUF file, which llama.cpp maps, and the .colibri file made of it), the same tokens and threads, and take turns."""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from balloon import Balloon

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools/synth_model"))
import gguf_model  # noqa: E402
import routing  # noqa: E402
from shapes import SHAPES, TYPES  # noqa: E402

PROMPT, GENERATE = 512, 32
BESIDE = 550_000_000  # bytes left for what programs need besides weights and page cache
STATES = ("cold", "warm")


def run(command: list, what: str) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{what} failed with exit {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def drop_cache(*files: Path) -> None:
    for file in files:
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def colibri_round(options, files, warm: bool) -> dict:
    """The first round of a process, or, warm, the second."""
    drop_cache(*files.values())
    made = json.loads(run([options.colibri, "bench", files["colibri"], "--ids", files["ids"], "-p", PROMPT, "-n", GENERATE,
                           "-r", 1, "--warmup", int(warm), "-t", options.threads, "--json"], "colibri bench"))
    test = made["tests"][0]
    experts = test["decode"]["experts"]
    load = 0 if warm else made["load_seconds"]
    return {"prefill": load + PROMPT / test["prefill"]["tokens_per_second"]["median"],
            "decode": GENERATE / test["decode"]["tokens_per_second"]["median"],
            "prefill_bytes": test["prefill"]["experts"]["missed_bytes"], "decode_bytes": experts["missed_bytes"],
            "hit_rate": experts["hits"] / (experts["hits"] + experts["misses"]), "peak_memory": made["peak_memory_bytes"]}


def llamacpp_rounds(options, files) -> list[dict]:
    """A cold and a warm one, of one process."""
    drop_cache(*files.values())
    made = json.loads(run([sys.executable, HERE / "llamacpp_mmap.py", files["gguf"], files["ids"], options.threads, PROMPT,
                           GENERATE], "llama.cpp"))
    return made["rounds"]


def figure(rounds: list[dict], phase: str) -> str:
    tokens = PROMPT if phase == "prefill" else GENERATE
    rates = [tokens / made[phase] for made in rounds]
    read = median(made[phase + "_bytes"] for made in rounds)
    return f"{median(rates):.2f} tokens/s ({min(rates):.2f} to {max(rates):.2f}), {read / 1e9:.2f} GB read"


def compare(options, files, percent: int, size: int) -> None:
    left = size * percent // 100 + BESIDE
    ours, theirs = {state: [] for state in STATES}, {state: [] for state in STATES}
    disk, estimates = [], []
    with Balloon(left) as balloon:
        for _ in range(options.rounds):
            planned = json.loads(run([options.colibri, "plan", files["colibri"], "-c", PROMPT + GENERATE, "-t", options.threads,
                                      "--json"], "colibri plan"))
            disk.append(planned["decode"]["disk_bytes_per_second"])
            estimates.append(planned["decode"]["tokens_per_second"])
            for state in STATES:
                ours[state].append(colibri_round(options, files, state == "warm"))
                balloon.check()
            for state, made in zip(STATES, llamacpp_rounds(options, files), strict=True):
                theirs[state].append(made)
            balloon.check()
    rate = median(disk)
    print(f"# {percent} %: {left / 1e9:.2f} GB left, the disk reads {rate / 1e9:.2f} GB/s ({min(disk) / 1e9:.2f} to "
          f"{max(disk) / 1e9:.2f}); peak memory of colibri {max(made['peak_memory'] for made in ours['warm']) / 1e9:.2f} GB; "
          f"its plan said {estimates[0]['least']:.2f} to {estimates[0]['most']:.2f} tokens/s")
    for phase in ("prefill", "decode"):
        for state in STATES:
            print(f"# {phase}, {state}: colibri {figure(ours[state], phase)}; llama.cpp {figure(theirs[state], phase)}")
    hits = [f"{state} {median(made['hit_rate'] for made in ours[state]):.1%}" for state in STATES]
    print(f"# expert hits in decoding: {', '.join(hits)}")
    for phase in ("decode", "prefill"):
        for state in STATES:
            ratio = median(made[phase] for made in theirs[state]) / median(made[phase] for made in ours[state])
            print(f"ratio {phase} {percent} {state} {ratio:.2f}", flush=True)
    bound = median(made["decode_bytes"] / rate / made["decode"] for made in ours["warm"])
    print(f"fraction disk {percent} {100 * bound:.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colibri", type=Path, default=HERE.parent / "build/release/bin/colibri")
    parser.add_argument("--quick", action="store_true", help="6 GB, 40 %%, one process each: less than ten minutes on an idle machine")
    parser.add_argument("--shape", choices=SHAPES, default="qwen3-30b-a3b")
    parser.add_argument("--type", choices=TYPES, default="q4_0")
    parser.add_argument("--layers", type=int, help="layers of the model")
    parser.add_argument("--percent", type=int, action="append", help="of the model that memory is left for; may be given again")
    parser.add_argument("--rounds", type=int, help="processes of each program; 2, or 1 with --quick")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--models", type=Path, help="where the two files are made")
    options = parser.parse_args()
    if not options.colibri.exists():
        parser.error(f"{options.colibri} does not exist; build the preset release or give --colibri")
    options.rounds = options.rounds or (1 if options.quick else 2)
    layers = options.layers or (17 if options.quick else 28)
    shape = dataclasses.replace(SHAPES[options.shape], layers=layers)
    with tempfile.TemporaryDirectory(prefix="streaming ", dir=options.models) as folder:
        files = {name: Path(folder) / f"model.{name}" for name in ("gguf", "colibri", "ids")}
        gguf_model.write(shape, options.type, files["gguf"],
                         routing=routing.Routing(shape.experts, shape.top_k, shape.layers))
        files["ids"].write_text(" ".join(map(str, routing.ids(shape.vocabulary, PROMPT + GENERATE))), encoding="ascii")
        drop_cache(files["gguf"])
        run([options.colibri, "convert", files["gguf"], "-o", files["colibri"]], "colibri convert")
        size = files["gguf"].stat().st_size
        print(f"# {options.shape}, {layers} layers, {options.type}: {size / 1e9:.2f} GB, {options.threads} threads", flush=True)
        for percent in options.percent or ([40] if options.quick else [60, 40, 25]):
            try:
                compare(options, files, percent, size)
            except (ValueError, RuntimeError) as error:
                sys.exit(str(error))


if __name__ == "__main__":
    main()
