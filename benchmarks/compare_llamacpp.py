#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the speed of colibri with that of llama.cpp: compare_llamacpp.sh runs it.

Each model is made, measured by both in turns (A B A B A B), each time in a new process, and deleted. Both get the same file,
the same tokens, threads and f16 keys and values; llama.cpp reads the file without mmap, with flash attention off and on, and
the better median counts."""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean, median
from typing import Iterator

import numpy as np

from agreement import Place, agree, place
from colibri_c import Colibri
from llamacpp import FIRST, Llama

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools/synth_model"))
import gguf_model  # noqa: E402
import shapes  # noqa: E402
from shapes import TYPES  # noqa: E402

# Some with fewer layers, so that they fit into an ordinary machine.
SHAPES = {
    "olmoe-1b-7b": shapes.SHAPES["olmoe-1b-7b"],
    "qwen3-30b-a3b-12-layers": dataclasses.replace(shapes.SHAPES["qwen3-30b-a3b"], layers=12),
    "mixtral-3-layers": dataclasses.replace(shapes.SHAPES["mixtral-8x7b"], layers=3),
}
QUICK = "qwen3-30b-a3b-12-layers"
SHORT, LONG = 512, 4096  # prompts; their figures are called decode and prefill, decode4k and prefill4k
GENERATE = 128


def available_threads() -> int:
    return len(os.sched_getaffinity(0))


def run(command: list, what: str) -> dict:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{what} failed with exit {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def colibri_round(options, model: Path, ids: Path, prompts: list[int]) -> dict:
    """Figures of one round: seconds, fractions, chosen ids."""
    made = run([options.colibri, "bench", model, "-p", ",".join(map(str, [FIRST, *prompts])), "-n", GENERATE, "-r", 1,
                "--warmup", 0, "--ids", ids, "-t", options.threads, "--json"], "colibri bench")
    tests = {test["prompt_tokens"]: test for test in made["tests"]}
    seconds = {"first_token": made["load_seconds"] + tests[FIRST]["first_token_seconds"]["median"]}
    for prompt in prompts:
        suffix = "4k" if prompt == LONG else ""
        seconds["prefill" + suffix] = prompt / tests[prompt]["prefill"]["tokens_per_second"]["median"]
        seconds["decode" + suffix] = GENERATE / tests[prompt]["decode"]["tokens_per_second"]["median"]
    short = tests[SHORT]
    return {"seconds": seconds, "peak_memory": made["peak_memory_bytes"], "limits": made["limits"],
            "fraction": {"decode": short["decode"]["read_fraction"], "prefill": short["prefill"]["int8_fraction"]}}


def llamacpp_round(options, model: Path, ids: Path, prompts: list[int]) -> dict:
    made = run([sys.executable, HERE / "llamacpp.py", model, ids, options.threads, ",".join(map(str, prompts)), GENERATE],
               "llama.cpp")
    of_settings = {}
    for flash_attention, measured in made["flash_attention"].items():
        seconds = {"first_token": made["load"] + measured["first"]}
        for test in measured["prompts"]:
            suffix = "4k" if test["prompt_tokens"] == LONG else ""
            seconds["prefill" + suffix], seconds["decode" + suffix] = test["prefill"], test["decode"]
        of_settings[flash_attention] = seconds
    return {"seconds": of_settings, "version": made["version"]}


def logits(engine: Llama | Colibri, ids: list[int], prompts: list[int]) -> Iterator:
    """At the last id of each prompt and at those behind it."""
    for prompt in prompts:
        engine.clear()
        for part in [ids[:prompt], *([i] for i in ids[prompt:prompt + GENERATE])]:
            yield engine.forward(part)


def places(options, model: Path, ids: list[int], prompts: list[int]) -> list[Place]:
    """Of all places, one program after the other: memory has to take one."""
    llama = Llama(str(model))
    llama.open(max(prompts) + GENERATE, options.threads, flash_attention=False)
    theirs = [values.copy() for values in logits(llama, ids, prompts)]
    llama.close()
    llama.free()
    with Colibri(options.colibri, str(model), options.threads, max(prompts) + GENERATE) as colibri:
        return [place(ours[:], values.tolist())
                for ours, values in zip(logits(colibri, ids, prompts), theirs, strict=True)]


def spread_text(values: list[float], unit: str) -> str:
    return f"{median(values):.4g} {unit} ({min(values):.4g} to {max(values):.4g})"


def amount(figure: str, seconds: float) -> float:
    """Tokens per second, or the seconds of the first token."""
    if figure == "first_token":
        return seconds
    prompt = LONG if figure.endswith("4k") else SHORT
    return (GENERATE if figure.startswith("decode") else prompt) / seconds


def compare(options, name: str, codec: str, prompts: list[int], ratios: dict[str, list[float]]) -> bool:
    shape = SHAPES[name]
    if options.layers:
        shape = dataclasses.replace(shape, layers=options.layers)
    with tempfile.TemporaryDirectory(prefix="model ", dir=options.models or options.folder) as folder:
        model, ids = Path(folder) / f"{name} {codec}.gguf", Path(folder) / "ids"
        gguf_model.write(shape, codec, model)
        tokens = np.random.default_rng(7).integers(shape.vocabulary, size=max(prompts) + GENERATE)
        ids.write_text(" ".join(map(str, tokens)) + "\n", encoding="utf-8")
        print(f"# {name} {codec}: {model.stat().st_size / 1e9:.2f} GB, {options.threads} threads", flush=True)
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(colibri_round(options, model, ids, prompts))
            theirs.append(llamacpp_round(options, model, ids, prompts))
        compared = places(options, model, tokens.tolist(), prompts)

    print(f"# {theirs[0]['version']}")
    limits = ours[-1]["limits"]
    print(f"# limits: read {limits['read_bytes_per_second'] / 1e9:.1f} GB/s, int8 "
          f"{limits['int8_operations_per_second'] / 1e9:.0f} GOP/s; peak memory of colibri {ours[0]['peak_memory'] / 1e9:.2f} GB")
    for figure in ours[0]["seconds"]:
        mine = [amount(figure, made["seconds"][figure]) for made in ours]
        settings = {setting: [amount(figure, made["seconds"][setting][figure]) for made in theirs]
                    for setting in ("false", "true")}
        choose = min if figure == "first_token" else max
        best = choose(settings, key=lambda setting: median(settings[setting]))
        unit = "s" if figure == "first_token" else "tokens/s"
        print(f"# {figure}: colibri {spread_text(mine, unit)}, llama.cpp {spread_text(settings[best], unit)} "
              f"with flash attention {'on' if best == 'true' else 'off'}")
        ratio = median(mine) / median(settings[best])
        print(f"ratio {figure} {name} {codec} {ratio:.2f}", flush=True)
        ratios.setdefault(figure, []).append(ratio)
    for phase in ("decode", "prefill"):
        print(f"fraction {phase} {name} {codec} {100 * median(made['fraction'][phase] for made in ours):.0f}")
    noise = [made.noise for made in compared]
    print(f"# logits: they differ by {median(noise):.1%} of their width ({min(noise):.1%} to {max(noise):.1%}); greedy ids "
          f"differ at {sum(made.differ for made in compared)} of {len(compared)} places; "
          f"{sum(made.error for made in compared)} errors", flush=True)
    return agree(compared)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="for what is kept")
    parser.add_argument("--colibri", type=Path, default=HERE.parent / "build/release/bin/colibri")
    parser.add_argument("--quick", action="store_true",
                        help=f"one shape in one type, prompts of {SHORT} tokens only: less than five minutes")
    parser.add_argument("--shape", choices=SHAPES, action="append", help="only this; may be given again")
    parser.add_argument("--type", choices=TYPES, action="append", help="only this; may be given again")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--layers", type=int, help="layers, if not those of the shape")
    parser.add_argument("--models", type=Path, help="where models are made, one at a time, of up to 8 GB")
    options = parser.parse_args()
    if not options.colibri.exists():
        parser.error(f"{options.colibri} does not exist; build the preset release or give --colibri")
    shapes = options.shape or ([QUICK] if options.quick else list(SHAPES))
    types = options.type or (TYPES[:1] if options.quick else TYPES)
    prompts = [SHORT] if options.quick else [SHORT, LONG]
    options.folder.mkdir(parents=True, exist_ok=True)

    ratios: dict[str, list[float]] = {}
    agreed = all([compare(options, shape, codec, prompts, ratios) for shape in shapes for codec in types])
    if len(shapes) * len(types) > 1:
        for figure, values in ratios.items():
            print(f"# {figure}: geometric mean {geometric_mean(values):.2f}, {min(values):.2f} to {max(values):.2f}")
    if not agreed:
        print("the two programs do not compute the same", file=sys.stderr)
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
