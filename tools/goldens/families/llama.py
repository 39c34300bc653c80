# SPDX-License-Identifier: Apache-2.0
"""Llama: no layer has experts."""

from families import COMMON
from spec import Spec

BASE = COMMON | {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "attention_bias": False,
    "mlp_bias": False,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-5,
    "rope_scaling": None,
    "rope_theta": 10000.0,
}

SPECS = (
    Spec("llama_bf16", "as Llama 3.1: llama3 rope scaling, 4 query heads to a key head",
         BASE | {"vocab_size": 109, "hidden_size": 64, "intermediate_size": 96, "head_dim": 16,
                 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 1,
                 "rope_theta": 500000.0, "torch_dtype": "bfloat16",
                 "eos_token_id": [2, 8],
                 "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                  "high_freq_factor": 4.0,
                                  "original_max_position_embeddings": 48}},
         dtype="bfloat16", matters={"llama3 scaling": {"rope_scaling": None}}),
    Spec("llama_bias_f32", "biases on every projection, tied, sizes that fit no block",
         BASE | {"vocab_size": 73, "hidden_size": 42, "intermediate_size": 50,
                 "num_hidden_layers": 3, "num_attention_heads": 3, "num_key_value_heads": 3,
                 "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True,
                 "rms_norm_eps": 0.02},
         bias=0.1, matters={"eps": {"rms_norm_eps": 1e-6}}),
    Spec("llama_linear_f16", "linear rope scaling by its old name, head_dim 12 beside hidden 56",
         BASE | {"vocab_size": 127, "hidden_size": 56, "intermediate_size": 88, "head_dim": 12,
                 "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2,
                 "rms_norm_eps": 1e-6, "torch_dtype": "float16",
                 "rope_scaling": {"type": "linear", "factor": 4.0}},
         dtype="float16", matters={"linear scaling": {"rope_scaling": None}}),
)
