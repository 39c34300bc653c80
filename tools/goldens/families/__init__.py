# SPDX-License-Identifier: Apache-2.0
"""The golden checkpoints of every family. COMMON: what config.json says in all of them."""

import importlib

FAMILIES = ("mixtral", "qwen2_moe", "qwen3_moe", "olmoe", "glm4_moe", "deepseek_v2", "deepseek_v3",
            "gpt_oss", "granitemoe", "llama", "qwen3", "rope_scalings", "invented")

COMMON = {
    "attention_dropout": 0.0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "initializer_range": 0.02,
    "max_position_embeddings": 256,
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "transformers_version": "4.57.3",
    "use_cache": True,
}


def all_specs():
    return [spec for family in FAMILIES
            for spec in importlib.import_module(f"families.{family}").SPECS]
