# SPDX-License-Identifier: Apache-2.0
"""Random Mixtral weights and their Hugging Face folder (the on-disk form of transformers 4)."""

import json
import math
from pathlib import Path

import torch
from safetensors.torch import save_file

from specs import Spec

# Standard deviation of a matrix is gain / sqrt(fan_in): large enough that the layers, not the
# embedding, decide the output, and that the experts and the attention patterns differ clearly.
GAINS = {"q": 1.25, "k": 1.25, "v": 2.0, "o": 2.0, "gate": 2.0, "w1": 2.0, "w2": 2.0, "w3": 2.0,
         "head": 3.0}


def make_weights(spec: Spec, seed: int) -> dict[str, torch.Tensor]:
    """Tensors of the checkpoint by their on-disk names, already in the dtype of the storage."""
    generator = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int, gain: float, dtype: str = spec.dtype) -> torch.Tensor:
        values = torch.randn(rows, columns, generator=generator) * (gain / math.sqrt(columns))
        return values.to(getattr(torch, dtype))

    def norm() -> torch.Tensor:  # not all ones: a forgotten weight must show
        values = 1.0 + 0.25 * torch.randn(spec.hidden, generator=generator)
        return values.to(getattr(torch, norm_dtype))

    norm_dtype = spec.norm_dtype or spec.dtype
    queries, keys = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    # A tied head multiplies the normalised state (about 1 an element) by the embedding.
    embedding_gain = GAINS["head"] if spec.tied else math.sqrt(spec.hidden)
    tensors = {"model.embed_tokens.weight": matrix(spec.vocab, spec.hidden, embedding_gain)}
    for layer in range(spec.layers):
        at = f"model.layers.{layer}."
        tensors[at + "self_attn.q_proj.weight"] = matrix(queries, spec.hidden, GAINS["q"])
        tensors[at + "self_attn.k_proj.weight"] = matrix(keys, spec.hidden, GAINS["k"])
        tensors[at + "self_attn.v_proj.weight"] = matrix(keys, spec.hidden, GAINS["v"])
        tensors[at + "self_attn.o_proj.weight"] = matrix(spec.hidden, queries, GAINS["o"])
        moe = at + "block_sparse_moe."
        tensors[moe + "gate.weight"] = matrix(spec.experts, spec.hidden, GAINS["gate"], norm_dtype)
        for expert in range(spec.experts):
            name = f"{moe}experts.{expert}."
            tensors[name + "w1.weight"] = matrix(spec.inner, spec.hidden, GAINS["w1"])
            tensors[name + "w2.weight"] = matrix(spec.hidden, spec.inner, GAINS["w2"])
            tensors[name + "w3.weight"] = matrix(spec.inner, spec.hidden, GAINS["w3"])
        tensors[at + "input_layernorm.weight"] = norm()
        tensors[at + "post_attention_layernorm.weight"] = norm()
    tensors["model.norm.weight"] = norm()
    if not spec.tied:
        tensors["lm_head.weight"] = matrix(spec.vocab, spec.hidden, GAINS["head"])
    return tensors


def config(spec: Spec) -> dict:
    values = {
        "architectures": ["MixtralForCausalLM"],
        "attention_dropout": 0.0,
        "bos_token_id": 0 if spec.tokenizer else 1,
        "eos_token_id": spec.eos,
        "hidden_act": "silu",
        "hidden_size": spec.hidden,
        "initializer_range": 0.02,
        "intermediate_size": spec.inner,
        "max_position_embeddings": 256,
        "model_type": "mixtral",
        "num_attention_heads": spec.heads,
        "num_experts_per_tok": spec.top_k,
        "num_hidden_layers": spec.layers,
        "num_key_value_heads": spec.kv_heads,
        "num_local_experts": spec.experts,
        "output_router_logits": False,
        "rms_norm_eps": spec.eps,
        "rope_theta": spec.theta,
        "router_aux_loss_coef": 0.02,
        "sliding_window": spec.window,
        "tie_word_embeddings": spec.tied,
        "torch_dtype": spec.dtype,
        "transformers_version": "4.46.3",
        "use_cache": True,
        "vocab_size": spec.vocab,
    }
    if spec.states_head_dim:
        values["head_dim"] = spec.head_dim
    return dict(sorted(values.items()))


def write_json(path: Path, value) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def save(spec: Spec, tensors: dict[str, torch.Tensor], folder: Path) -> None:
    """Writes config.json, generation_config.json and the weights in one file or in shards."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = config(spec)
    write_json(folder / "config.json", settings)
    write_json(folder / "generation_config.json", {
        "_from_model_config": True,
        "bos_token_id": settings["bos_token_id"],
        "eos_token_id": spec.eos,
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
