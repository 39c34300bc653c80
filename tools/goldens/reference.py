# SPDX-License-Identifier: Apache-2.0
"""What transformers computes for a checkpoint folder: logits and greedy ids in float32.

Usage: reference.py FOLDER --prompt 1,17,4 [--prompt ...] [--all-positions-below N] > reference.json
The format is described in tests/golden/README.md.
"""

import argparse
import base64
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file

import invented  # registers its model type  # noqa: F401
import quantised

GREEDY = 64


def load(folder: Path, dtype=torch.float32, **changed):
    """The model of a folder, with changed keys of config.json."""
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    settings = json.loads((folder / "config.json").read_text())
    kind = settings.pop("quantization_config", None)
    with tempfile.TemporaryDirectory() as scratch:
        if kind:  # transformers needs a GPU for these: it gets the exact values instead
            method = kind["quant_method"]
            tensors = quantised.values(method, load_file(folder / "model.safetensors"))
            folder = Path(scratch)
            (folder / "config.json").write_text(json.dumps(settings))
            save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        config = transformers.AutoConfig.for_model(**(settings | changed))
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, config=config, dtype=dtype, attn_implementation="eager",
            local_files_only=True).eval()
    if kind and method == "mxfp4":
        quantised.round_activations(model)
    return model


@torch.inference_mode()
def logits_of(model, ids) -> np.ndarray:
    """Logits [len(ids), vocab], the whole sequence in one pass without a cache."""
    return model(torch.tensor([list(ids)]), use_cache=False).logits[0].numpy()


def greedy(model, prompt) -> tuple[list[int], np.ndarray, float]:
    """The next GREEDY ids (end-of-sequence ids are ids like any other), the logits after the last
    of them, and the smallest gap between first and second choice met on the way."""
    ids, gap = list(prompt), float("inf")
    for _ in range(GREEDY):
        last = logits_of(model, ids)[-1]
        second, first = np.sort(last)[-2:]
        gap = min(gap, float((first - second) / np.abs(last).max()))
        ids.append(int(last.argmax()))
    return ids[len(prompt):], logits_of(model, ids)[-1], gap


def pack(logits: np.ndarray, first: int) -> dict:
    """Rows of logits for positions first, first + 1, ... as base64 of little-endian float32."""
    rows = np.atleast_2d(logits).astype("<f4")
    return {"first_position": first, "rows": len(rows),
            "max_abs": float(np.abs(rows).max()),
            "data": base64.b64encode(rows.tobytes()).decode()}


def unpack(packed: dict) -> np.ndarray:
    values = np.frombuffer(base64.b64decode(packed["data"]), dtype="<f4")
    return values.reshape(packed["rows"], -1)


def case(model, name: str, prompt: list[int], all_positions: bool) -> dict:
    logits = logits_of(model, prompt)
    first = 0 if all_positions else len(prompt) - 1
    ids, final, gap = greedy(model, prompt)
    return {"name": name, "prompt": prompt, "logits": pack(logits[first:], first),
            "greedy": ids, "greedy_gap": gap,
            "final_logits": pack(final, len(prompt) + GREEDY - 1)}


def dump(result: dict) -> str:
    """JSON with one case a line."""
    head = json.dumps({k: v for k, v in result.items() if k != "cases"}, indent=1)
    cases = ",\n".join("  " + json.dumps(c) for c in result["cases"])
    return f'{head[:-2]},\n "cases": [\n{cases}\n ]\n}}\n'


def versions() -> dict:
    return {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prompt", action="append", required=True, help="ids, comma separated")
    parser.add_argument("--all-positions-below", type=int, default=16, metavar="N",
                        help="store every position of prompts shorter than N")
    args = parser.parse_args()
    model = load(args.folder)
    cases = []
    for number, text in enumerate(args.prompt):
        prompt = [int(i) for i in text.split(",")]
        cases.append(case(model, f"prompt{number}", prompt,
                          len(prompt) < args.all_positions_below))
    sys.stdout.write(dump({"model": args.folder.resolve().name, "versions": versions(),
                           "vocab_size": model.config.vocab_size, "cases": cases}))


if __name__ == "__main__":
    main()
