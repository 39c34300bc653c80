# SPDX-License-Identifier: Apache-2.0
"""Writes a checkpoint of a run as a Hugging Face folder of the Mixtral form, weights in bf16.

    python export.py RUN_FOLDER/CHECKPOINT FOLDER
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

from model import Config, DemoModel
from train_tokenizer import END, SPECIAL_TOKENS, TOKENIZER_FILES


def named_weights(model: DemoModel) -> dict[str, torch.Tensor]:
    """Every weight of the model, as a view, under its name in transformers 4."""
    tensors = {"model.embed_tokens.weight": model.embedding, "model.norm.weight": model.final_norm}
    for l, block in enumerate(model.blocks):
        at = f"model.layers.{l}."
        tensors[at + "input_layernorm.weight"] = block.input_norm
        tensors[at + "post_attention_layernorm.weight"] = block.post_norm
        for name in "qkvo":
            tensors[f"{at}self_attn.{name}_proj.weight"] = getattr(block, name)
        tensors[at + "block_sparse_moe.gate.weight"] = block.router
        for e in range(model.config.experts):
            for name in ("w1", "w2", "w3"):
                tensors[f"{at}block_sparse_moe.experts.{e}.{name}.weight"] = getattr(block, name)[e]
    return {name: tensor.detach() for name, tensor in tensors.items()}


def hf_config(c: Config) -> dict:
    end = SPECIAL_TOKENS.index(END)
    return {
        "architectures": ["MixtralForCausalLM"], "model_type": "mixtral",
        "vocab_size": c.vocab, "hidden_size": c.hidden, "intermediate_size": c.expert_inner,
        "num_hidden_layers": c.layers, "num_attention_heads": c.heads,
        "num_key_value_heads": c.kv_heads, "head_dim": c.head_dim,
        "num_local_experts": c.experts, "num_experts_per_tok": c.top_k,
        "hidden_act": "silu", "rms_norm_eps": c.norm_eps, "rope_theta": c.rope_theta,
        "max_position_embeddings": c.context, "sliding_window": None, "attention_dropout": 0.0,
        "tie_word_embeddings": True, "bos_token_id": None, "eos_token_id": end,
        "pad_token_id": end, "torch_dtype": "bfloat16", "use_cache": True,
    }


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def main(checkpoint: Path, folder: Path) -> None:
    model = DemoModel()
    model.load_state_dict(torch.load(checkpoint, weights_only=True)["model"])
    folder.mkdir(parents=True, exist_ok=True)
    config = hf_config(model.config)
    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", {
        "do_sample": False, "eos_token_id": config["eos_token_id"],
        "pad_token_id": config["pad_token_id"]})
    for name in TOKENIZER_FILES:
        shutil.copyfile(checkpoint.parent / name, folder / name)
    weights = {name: t.bfloat16().contiguous() for name, t in named_weights(model).items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
