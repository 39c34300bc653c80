#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose errors are larger, Colibri's or llama.cpp's: both engines on the same random GGUF files of every
codec and every family, against float64 arithmetic on the numbers that the stored weights stand for.

Usage: gguf_error_ratio.py [--seeds N] [--build FOLDER] [--data FILE] [CODEC, FAMILY OR FAMILY_CODEC ...]
from the top of the source tree, after `cmake --build --preset release`; requirements.txt and
requirements-gguf.txt. Each file is asked with caches in f32 and in f16, both engines' default. With
--data what was measured is kept, and a later run does the rest only.

A ratio is the geometric mean over the files of Colibri's root mean square error by llama.cpp's, with its
standard error: a sum of squares would be that of the few files in which rounding turned a choice of experts
over. Beside it stands Colibri's error, relative to the largest |logit|. Positions whose logits
depend on a near tie of the router (make_gguf.position_gaps) are left out. Greedy ids: of the positions where
llama.cpp's two best logits are further apart than twice its largest error in the file, the share where
Colibri's best one is the same. Exit 1 if a ratio is above 1 by more than three standard errors where the
errors are more than what float32 sums in another order make, or if a greedy id differs.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

import exact
import ggml
import gguf_convert
import make_gguf
from gguf_specs import K_CODECS, SMALL_CODECS, GgufSpec, every_codec

TOKENS = 48
# As GgufSpec.near_tie.
NEAR_TIE = 0.04
CACHES = ("f32", "f16")
NARROW = [codec for codec in SMALL_CODECS if codec not in ("F32", "F16", "BF16")]
ROUNDING = 1e-6  # of sums of float32, relative to the largest |logit|


def colibri_logits(program: Path, model: Path, ids: list[int], cache: str) -> np.ndarray:
    asked, made = model.with_suffix(".ids"), model.with_suffix(".logits")
    asked.write_text(" ".join(map(str, ids)) + "\n")
    subprocess.run([program, model, asked, made, f"context.kv={cache}"], check=True)
    return np.fromfile(made, np.float32).reshape(len(ids), -1)


def llama_logits(model: Path, ids: list[int], cache: str) -> np.ndarray:
    llama = ggml.Llama(model, len(ids), cache.upper())
    logits = llama.logits(ids)
    llama.close()
    return logits


def compared(right: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> dict:
    """Of the positions of one file, all [positions, vocabulary]."""
    largest = np.abs(right).max()
    ranked = np.sort(theirs, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 2 * np.abs(theirs - right).max()
    same = ours.argmax(axis=1) == theirs.argmax(axis=1)
    return {"ours": float(np.square((ours - right) / largest).mean()),
            "theirs": float(np.square((theirs - right) / largest).mean()),
            "clear": int(clear.sum()), "same": int((clear & same).sum())}


def measure(spec: GgufSpec, seed: int, program: Path, folder: Path) -> dict:
    model = folder / "model.gguf"
    stored, weights = make_gguf.store(spec, seed)
    ggml.write(model, gguf_convert.ARCHITECTURES[spec.settings["model_type"]],
               gguf_convert.metadata(spec.settings, spec.old_latent), stored)
    rng = random.Random(seed)
    ids = [rng.randrange(3, spec.settings["vocab_size"]) for _ in range(TOKENS)]
    with exact.arithmetic():
        right, gaps = make_gguf.exact_logits(spec.settings, weights, ids)
    kept = gaps >= NEAR_TIE
    family, codec = spec.name.split("_", 1)
    made = {"family": family, "codec": codec, "seed": seed, "positions": int(kept.sum())}
    for cache in CACHES if kept.any() else ():
        made[cache] = compared(right[kept], colibri_logits(program, model, ids, cache)[kept],
                               llama_logits(model, ids, cache)[kept])
    return made


def ratio(squares: np.ndarray) -> tuple[float, float]:
    """squares: [files, ours and theirs]. The geometric mean of the ratio of their roots; its standard error."""
    logs = np.log(squares[:, 0] / squares[:, 1]) / 2
    mean = float(np.exp(logs.mean()))
    return mean, mean * float(logs.std(ddof=1)) / len(logs) ** 0.5 if len(logs) > 1 else float("nan")


def table(title: str, results: list[dict], key: str) -> list[str]:
    """Prints a row for each value of a key; gives the values whose errors are surely larger."""
    worse = []
    print(f"\n{title}\n\n| {key} | files | positions | f32 caches: error | ratio | f16 caches: error | ratio |"
          " greedy ids |\n|---|---|---|---|---|---|---|---|")
    for value in dict.fromkeys(result[key] for result in results):
        files = [result for result in results if result[key] == value]
        cells = []
        for cache in CACHES:
            squares = np.array([[file[cache]["ours"], file[cache]["theirs"]] for file in files])
            mean, error = ratio(squares)
            root = np.sqrt(squares[:, 0].mean())
            cells.append(f"{root:.1e} | {mean:.3f} +- {error:.3f}")
            if mean > 1 + 3 * error and root > ROUNDING:
                worse.append(f"{value} ({cache} caches)")
        clear, same = (sum(file[cache][word] for file in files for cache in CACHES)
                       for word in ("clear", "same"))
        print(f"| {value.replace('_k', '_K')} | {len(files)} | {sum(file['positions'] for file in files)} | "
              f"{' | '.join(cells)} | {same} of {clear} |")
    return worse


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--data", type=Path, help="a file of JSON lines, one for each GGUF file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    program = args.build / "tests" / "demo" / "colibri_write_logits"
    specs = [spec for spec in every_codec()
             if not args.names or {spec.name, *spec.name.split("_", 1)} & set(args.names)]
    lines = args.data.read_text().splitlines() if args.data and args.data.exists() else []
    results = [json.loads(line) for line in lines]
    done = {(result["family"], result["codec"], result["seed"]) for result in results}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seeds):
            for spec in specs:
                if (*spec.name.split("_", 1), seed) in done:
                    continue
                results.append(measure(spec, seed, program, Path(folder)))
                if args.data:
                    with args.data.open("a") as file:
                        file.write(json.dumps(results[-1]) + "\n")
    results = [result for result in results if result["positions"]]
    worse = table("All families", results, "codec")
    for title, codecs in (("Codecs of 32 weights a block", NARROW), ("Codecs of 256", K_CODECS)):
        of_kind = [result for result in results if result["codec"].upper() in codecs]
        worse += table(title, of_kind, "family") if of_kind else []
    if worse:
        print(f"larger errors than llama.cpp's: {', '.join(worse)}", file=sys.stderr)
    different = sum(result[cache]["clear"] - result[cache]["same"] for result in results for cache in CACHES)
    return 1 if worse or different else 0


if __name__ == "__main__":
    sys.exit(main())
