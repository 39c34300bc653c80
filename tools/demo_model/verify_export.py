# SPDX-License-Identifier: Apache-2.0
"""Checks that an exported folder is what the training code computed.

    python verify_export.py FOLDER

Loads the folder into transformers' MixtralForCausalLM and into model.py, both in float32, and
compares the logits of every position of some validation examples. Also checks that every tensor of
the file is used, and the size of the folder.
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from batches import Encoder
from evaluate import load
from export import named_weights
from log_generator import VALIDATION_SEED, make_example
from model import DemoModel

MAX_FOLDER_BYTES = 8_000_000
TOLERANCE = 1e-5  # of the largest |logit|


def load_ours(folder: Path) -> DemoModel:
    """model.py with the weights of the exported file, through the names export.py writes."""
    stored = load_file(folder / "model.safetensors")
    model = DemoModel()
    with torch.no_grad():
        for name, view in named_weights(model).items():
            view.copy_(stored.pop(name).float())
    assert not stored, f"unused tensors: {sorted(stored)}"
    return model


@torch.no_grad()
def main(folder: Path) -> None:
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    assert size <= MAX_FOLDER_BYTES, f"{size} bytes, at most {MAX_FOLDER_BYTES}"
    ours, (theirs, _) = load_ours(folder), load(folder)
    encoder = Encoder(folder)
    worst = 0.0
    for seed in range(VALIDATION_SEED, VALIDATION_SEED + 8):
        ids = torch.tensor([encoder.encode(make_example(seed))[0]])
        positions = torch.arange(ids.shape[1])[None]
        got, _ = ours(ids, positions)
        want = theirs(ids).logits
        worst = max(worst, ((got - want).abs().max() / want.abs().max()).item())
    print(f"folder: {size} bytes; largest difference {worst:.2e} of the largest |logit|")
    assert worst < TOLERANCE


if __name__ == "__main__":
    main(Path(sys.argv[1]))
