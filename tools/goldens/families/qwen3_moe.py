# SPDX-License-Identifier: Apache-2.0
"""Qwen3-MoE: queries and keys normalised in each head; layers without experts."""

from families import COMMON
from spec import Spec

BASE = COMMON | {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "attention_bias": False,
    "decoder_sparse_step": 1,
    "max_window_layers": 48,
    "mlp_only_layers": [],
    "norm_topk_prob": True,
    "output_router_logits": False,
    "rms_norm_eps": 1e-6,
    "rope_scaling": None,
    "rope_theta": 1000000.0,
    "router_aux_loss_coef": 0.001,
    "sliding_window": None,
    "use_sliding_window": False,
}

SPECS = (
    Spec("qwen3_moe_bf16", "as the hub has it: heads wider than hidden / heads, renormalised",
         BASE | {"vocab_size": 107, "hidden_size": 64, "intermediate_size": 96,
                 "moe_intermediate_size": 32, "head_dim": 32,
                 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
                 "num_experts": 8, "num_experts_per_tok": 3, "torch_dtype": "bfloat16"},
         dtype="bfloat16", matters={"renormalising": {"norm_topk_prob": False}}),
    Spec("qwen3_moe_bias_f32", "biases on q, k, v and o, not renormalised, layer 0 dense, tied",
         BASE | {"vocab_size": 79, "hidden_size": 44, "intermediate_size": 60,
                 "moe_intermediate_size": 28, "head_dim": 14,
                 "num_hidden_layers": 3, "num_attention_heads": 3, "num_key_value_heads": 1,
                 "num_experts": 5, "num_experts_per_tok": 2, "mlp_only_layers": [0],
                 "attention_bias": True, "norm_topk_prob": False, "tie_word_embeddings": True,
                 "rms_norm_eps": 0.02},
         bias=0.1, matters={"eps": {"rms_norm_eps": 1e-6}, "no renormalising": {"norm_topk_prob": True}}),
    Spec("qwen3_moe_yarn_f32", "YaRN, a window of 11, every second layer dense",
         BASE | {"vocab_size": 97, "hidden_size": 40, "intermediate_size": 64,
                 "moe_intermediate_size": 24, "head_dim": 24,
                 "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4,
                 "num_experts": 7, "num_experts_per_tok": 4, "decoder_sparse_step": 2,
                 "use_sliding_window": True, "sliding_window": 11, "rope_theta": 10000.0,
                 "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                                  "original_max_position_embeddings": 64}},
         matters={"YaRN": {"rope_scaling": None},
                  "window": {"use_sliding_window": False, "sliding_window": None}}),
)
