# SPDX-License-Identifier: Apache-2.0
"""Qwen3: no layer has experts; queries and keys normalised in each head."""

from families import COMMON
from spec import Spec

BASE = COMMON | {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "attention_bias": False,
    "max_window_layers": 28,
    "rms_norm_eps": 1e-6,
    "rope_scaling": None,
    "rope_theta": 1000000.0,
    "sliding_window": None,
    "use_sliding_window": False,
}

SPECS = (
    Spec("qwen3_bf16", "as the hub has it: tied, heads wider than hidden / heads",
         BASE | {"vocab_size": 113, "hidden_size": 64, "intermediate_size": 96, "head_dim": 32,
                 "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
                 "tie_word_embeddings": True, "torch_dtype": "bfloat16"},
         dtype="bfloat16"),
    Spec("qwen3_window_f32", "a window of 6 from layer 1 on, biases on q, k, v and o",
         BASE | {"vocab_size": 91, "hidden_size": 40, "intermediate_size": 52, "head_dim": 18,
                 "num_hidden_layers": 3, "num_attention_heads": 5, "num_key_value_heads": 1,
                 "attention_bias": True, "use_sliding_window": True, "sliding_window": 6,
                 "max_window_layers": 1,
                 "layer_types": ["full_attention", "sliding_attention", "sliding_attention"]},
         matters={"window": {"use_sliding_window": False, "sliding_window": None,
                             "layer_types": ["full_attention"] * 3},
                  "full layer": {"layer_types": ["sliding_attention"] * 3}}),
    Spec("qwen3_yarn_f32", "YaRN with its own betas and attention factor, no truncation",
         BASE | {"vocab_size": 97, "hidden_size": 60, "intermediate_size": 76, "head_dim": 20,
                 "num_hidden_layers": 2, "num_attention_heads": 3, "num_key_value_heads": 3,
                 "rope_theta": 20000.0, "rms_norm_eps": 0.02,
                 "rope_scaling": {"rope_type": "yarn", "factor": 6.0, "beta_fast": 24.0,
                                  "beta_slow": 2.0, "attention_factor": 1.3, "truncate": False,
                                  "original_max_position_embeddings": 40}},
         matters={"YaRN": {"rope_scaling": None}, "eps": {"rms_norm_eps": 1e-6}}),
)
