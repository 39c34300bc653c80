# SPDX-License-Identifier: Apache-2.0
"""Random weights of a checkpoint, and its Hugging Face folder (as transformers 4 writes it)."""

import json
import math
import re
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

import invented  # registers its model type  # noqa: F401
import quantised
from spec import Spec

# Standard deviation of a matrix is gain / sqrt(fan_in): large enough that the layers, not the
# embedding, decide the output, and that the experts and the attention patterns differ clearly.
# The first pattern that is found in a name holds.
GAINS = {r"embed": None, r"lm_head|head\.": 3.0,
         r"(q_proj|k_proj|q_a_proj|q_b_proj|query|key)\.weight": 1.25,
         r"kv_a_proj|kv_b_proj": 1.5, r".": 2.0}
# Everything that is no matrix: mean and standard deviation. Not all ones or zeros: a forgotten
# weight must show.
VECTORS = {r"norm": (1.0, 0.25), r"sinks": (1.0, 1.5), r"e_score_correction_bias": (0.0, 0.2),
           r"bias": (0.0, None)}  # None: the specification's


def found(table: dict, name: str):
    return next(value for pattern, value in table.items() if re.search(pattern, name))


def is_matrix(name: str, shape: tuple[int, ...]) -> bool:
    return len(shape) > 1 and not name.endswith("bias")


def is_router(name: str) -> bool:
    return bool(re.search(r"(moe|mlp|ffn)\.(gate|router)\.|router\.layer", name))


def shapes(spec: Spec) -> dict[str, tuple[int, ...]]:
    """Tensors of the checkpoint by their on-disk names, in the order of transformers' modules."""
    config = transformers.AutoConfig.for_model(**spec.settings)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    made = {name: tuple(t.shape) for name, t in model.state_dict().items()}
    if spec.settings.get("tie_word_embeddings"):
        made.pop("lm_head.weight", None)
    return made | spec.idle


def make_weights(spec: Spec, seed: int) -> dict[str, torch.Tensor]:
    """The tensors in the dtype of the storage, before `quantised` stores some in blocks."""
    generator = torch.Generator().manual_seed(seed)
    other_dtype = spec.other_dtype or spec.dtype
    gains = spec.gains | {k: v for k, v in GAINS.items() if k not in spec.gains}
    # A tied head multiplies the normalised state (about 1 an element) by the embedding.
    hidden = spec.settings["hidden_size"]
    embedding = 3.0 if spec.settings.get("tie_word_embeddings") else math.sqrt(hidden)

    def made(name: str, shape: tuple[int, ...]) -> torch.Tensor:
        if not is_matrix(name, shape):
            mean, deviation = found(VECTORS, name)
            mean = spec.choice_bias if "e_score_correction_bias" in name else mean
            deviation = spec.bias if deviation is None else deviation
            values = mean + deviation * torch.randn(*shape, generator=generator)
            return values.to(getattr(torch, other_dtype))
        # GPT-OSS stores its experts as [expert, inputs, outputs].
        fan_in = shape[1] if re.search(r"experts\.(gate_up|down)_proj$", name) else shape[-1]
        gain = found(gains, name)
        gain = embedding if gain is None else gain
        values = torch.randn(*shape, generator=generator) * (gain / math.sqrt(fan_in))
        return values.to(getattr(torch, other_dtype if is_router(name) else spec.dtype))

    return {name: made(name, shape) for name, shape in shapes(spec).items()}


def write_json(path: Path, value) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def save(spec: Spec, tensors: dict[str, torch.Tensor], folder: Path) -> None:
    """Writes config.json, generation_config.json and the weights in one file or in shards."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = dict(sorted(spec.settings.items()))
    if spec.quantised:
        tensors = quantised.store(spec.quantised, tensors)
        settings["quantization_config"] = quantised.CONFIG[spec.quantised]
    write_json(folder / "config.json", settings)
    write_json(folder / "generation_config.json", {
        "_from_model_config": True,
        "bos_token_id": settings["bos_token_id"],
        "eos_token_id": settings["eos_token_id"],
        "transformers_version": settings["transformers_version"],
    })
    if spec.shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    # Shards of about equal size in tensor order, so that a layer may span two files.
    total = sum(t.nbytes for t in tensors.values())
    parts: list[dict[str, torch.Tensor]] = [{} for _ in range(spec.shards)]
    seen = 0
    for name, tensor in tensors.items():
        parts[seen * spec.shards // total][name] = tensor
        seen += tensor.nbytes
    weight_map = {}
    for number, part in enumerate(parts, 1):
        file = f"model-{number:05d}-of-{spec.shards:05d}.safetensors"
        save_file(part, folder / file, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(part, file)
    write_json(folder / "model.safetensors.index.json",
               {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))})
