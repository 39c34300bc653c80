#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/gguf: small GGUF files, what llama.cpp computes for each, and what transformers
computes in float32 with the numbers that the stored weights stand for.

Usage: make_gguf.py [--every-codec FOLDER] [NAME ...]     (requirements.txt and requirements-gguf.txt)
The format is described in tests/golden/README.md.
"""

import argparse
import json
import math
import random
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

import gguf
import numpy as np
import torch
import transformers

import checkpoint
import exact
import ggml
import gguf_convert
import reference
from gguf_specs import GgufSpec, committed, every_codec
from spec import Spec

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "gguf"
PROMPT, GREEDY = 20, 24
MIN_COMPARED = 0.75  # of the positions
MAX_LLAMA_ERROR = 0.05  # of llama.cpp, relative to the largest |logit|
MIN_DISTINCT = 8
# Smaller than those of the checkpoints: what one layer rounds must not be magnified by the next.
GAINS = {r"embed": None, r"lm_head": 3.0, r"(q_proj|k_proj|q_b_proj)\.weight": 0.8, r".": 1.2}


class Unfit(Exception):
    """This seed does not give a good golden."""


def codec_of(spec: GgufSpec, name: str, array: np.ndarray) -> gguf.GGMLQuantizationType:
    matrix = array.ndim > 1 and name.endswith("weight") and "ffn_gate_inp" not in name
    if not matrix:
        return gguf.GGMLQuantizationType.F32
    codec = next((c for part, c in spec.others.items() if part in name), spec.codec)
    kind = gguf.GGMLQuantizationType[codec]
    if array.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0]:  # as llama.cpp does with rows of no whole blocks
        kind = gguf.GGMLQuantizationType.Q5_0
    return kind


def store(spec: GgufSpec, seed: int) -> tuple[dict, dict[str, torch.Tensor]]:
    """The tensors of the file, and the numbers that they stand for under transformers' names."""
    weights = {name: tensor.numpy() for name, tensor in
               checkpoint.make_weights(Spec(spec.name, "", spec.settings, bias=0.15, gains=GAINS,
                                            choice_bias=spec.choice_bias), seed).items()}
    first, place = 0, {}
    for name, array in weights.items():
        place[name] = np.arange(first, first + array.size).reshape(array.shape)
        first += array.size
    source = gguf_convert.tensors(spec.settings, place, spec.old_latent)
    numbers = np.zeros(first, np.float32)
    stored = {}
    for name, array in gguf_convert.tensors(spec.settings, weights, spec.old_latent).items():
        kind = codec_of(spec, name, array)
        data = ggml.quantise(kind, np.ascontiguousarray(array))
        numbers[source[name]] = ggml.values(kind, data).reshape(array.shape)
        # Plain f32 keeps its shape; of everything else the writer wants bytes.
        stored[name] = (kind, np.ascontiguousarray(array) if kind == gguf.GGMLQuantizationType.F32 else data)
    return stored, {name: torch.from_numpy(numbers[at]) for name, at in place.items()}


def as_deepseek(model, settings: dict) -> mock._patch:
    """What transformers 4.57 does otherwise than DeepSeek's own code and llama.cpp: it forgets the
    factor of YaRN on V2's softmax, and scores of groups that are not kept become 0, not -inf."""
    scaling = settings.get("rope_scaling") or {}
    if settings["model_type"] == "deepseek_v2" and scaling.get("mscale_all_dim"):
        factor = 0.1 * scaling["mscale_all_dim"] * math.log(scaling["factor"]) + 1
        for layer in model.model.layers:
            layer.self_attn.scaling *= factor ** 2
    real = torch.Tensor.masked_fill
    return mock.patch.object(torch.Tensor, "masked_fill", lambda scores, mask, value: real(
        scores, mask, -math.inf if value == 0 else value))


def position_gaps(choices: exact.Choices, settings: dict, positions: int) -> np.ndarray:
    """Of each position the closest choice that its logits depend on: its own, and in all layers but
    the last those of the positions before it."""
    layers = settings["num_hidden_layers"] - settings.get("first_k_dense_replace", 0)
    if not choices.gaps:
        return np.full(positions, np.inf)
    of_layer = np.stack(choices.gaps).reshape(layers, -1, positions).min(axis=1)
    before = np.minimum.accumulate(of_layer[:-1].min(axis=0, initial=np.inf))
    return np.minimum(before, of_layer[-1])


def exact_logits(settings: dict, weights: dict[str, torch.Tensor], ids: list[int]):
    """Logits [len(ids), vocab], and how close the choices are that they depend on; see position_gaps. Of
    float64 inside exact.arithmetic()."""
    transformers.logging.set_verbosity_error()
    config = transformers.AutoConfig.for_model(**settings)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    missing, unexpected = model.load_state_dict(weights, strict=False)
    tied = {"lm_head.weight"} if settings["tie_word_embeddings"] else set()
    if unexpected or set(missing) - tied:
        raise RuntimeError(f"{settings['model_type']}: {missing} {unexpected}")
    model.to(torch.float32)  # the type that this name stands for
    with as_deepseek(model, settings), exact.choices() as seen:
        logits = reference.logits_of(model, ids)
    return logits, position_gaps(seen, settings, len(ids))


def try_seed(spec: GgufSpec, seed: int, path: Path) -> dict:
    stored, weights = store(spec, seed)
    architecture = gguf_convert.ARCHITECTURES[spec.settings["model_type"]]
    ggml.write(path, architecture, gguf_convert.metadata(spec.settings, spec.old_latent), stored)
    rng = random.Random(seed)
    ids = [rng.randrange(3, spec.settings["vocab_size"]) for _ in range(PROMPT)]
    llama = ggml.Llama(path, PROMPT + GREEDY)
    for _ in range(GREEDY):
        ids.append(int(llama.logits(ids)[-1].argmax()))
    theirs = llama.logits(ids)
    llama.close()
    right, choice_gap = exact_logits(spec.settings, weights, ids)
    largest = float(np.abs(right).max())
    error = theirs - right
    compared = choice_gap >= spec.near_tie
    if compared.mean() < MIN_COMPARED:
        raise Unfit(f"{len(ids) - compared.sum()} of {len(ids)} positions depend on near ties")
    worst = float(np.abs(error[compared]).max())
    if worst > MAX_LLAMA_ERROR * largest:
        raise Unfit(f"llama.cpp is {worst / largest:.1e} off")
    if len(set(ids[PROMPT:])) < MIN_DISTINCT:
        raise Unfit(f"{len(set(ids[PROMPT:]))} distinct ids")
    ranked = np.sort(theirs, axis=-1)
    return {"model": spec.name, "seed": seed,
            "versions": reference.versions() | {"llama-cpp-python": ggml.llama_cpp.__version__},
            "ids": ids, "llama_argmax": theirs.argmax(axis=-1).tolist(),
            "llama_gap": [round(float(g), 6) for g in ranked[:, -1] - ranked[:, -2]],
            "near_tie": np.flatnonzero(~compared).tolist(), "llama_max_error": worst,
            "llama_rms_error": float(np.sqrt((error[compared] ** 2).mean())),
            "logits": reference.pack(right, 0)}


def make(spec: GgufSpec, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"{spec.name}.gguf"
        for seed in range(1000):
            try:
                result = try_seed(spec, seed, path)
                break
            except Unfit as reason:
                print(f"{spec.name}: seed {seed}: {reason}", file=sys.stderr, flush=True)
        else:
            sys.exit(f"{spec.name}: no seed fits")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder)
    (folder / f"{spec.name}.json").write_text(json.dumps(result) + "\n")
    size = (folder / path.name).stat().st_size
    print(f"{spec.name}: seed {seed}, {size / 1024:.0f} KiB, llama.cpp's error "
          f"{result['llama_max_error'] / result['logits']['max_abs']:.1e}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every-codec", type=Path, metavar="FOLDER",
                        help="each family in each codec, in a folder that is not committed")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    specs = every_codec() if arguments.every_codec else committed()
    for spec in specs:
        if not arguments.names or any(name in spec.name for name in arguments.names):
            make(spec, arguments.every_codec or GOLDEN)


if __name__ == "__main__":
    main()
