# SPDX-License-Identifier: Apache-2.0
"""Qwen2-MoE: biases on q, k, v; a gated shared expert; layers without experts."""

from families import COMMON
from spec import Spec

BASE = COMMON | {
    "architectures": ["Qwen2MoeForCausalLM"],
    "model_type": "qwen2_moe",
    "decoder_sparse_step": 1,
    "max_window_layers": 21,
    "mlp_only_layers": [],
    "norm_topk_prob": False,
    "output_router_logits": False,
    "qkv_bias": True,
    "rms_norm_eps": 1e-6,
    "rope_scaling": None,
    "rope_theta": 1000000.0,
    "router_aux_loss_coef": 0.001,
    "sliding_window": 4096,
    "use_sliding_window": False,
}

SPECS = (
    Spec("qwen2_moe_bf16", "as the hub has it: biases, scores not renormalised, shared expert",
         BASE | {"vocab_size": 103, "hidden_size": 64, "intermediate_size": 96,
                 "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64,
                 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
                 "num_experts": 6, "num_experts_per_tok": 3, "torch_dtype": "bfloat16"},
         dtype="bfloat16", matters={"no renormalising": {"norm_topk_prob": True}}),
    Spec("qwen2_moe_step_f32", "every second layer dense, renormalised, tied, 3 queries to a key",
         BASE | {"vocab_size": 89, "hidden_size": 36, "intermediate_size": 56,
                 "moe_intermediate_size": 20, "shared_expert_intermediate_size": 28,
                 "num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 2,
                 "num_experts": 5, "num_experts_per_tok": 2, "decoder_sparse_step": 2,
                 "norm_topk_prob": True, "tie_word_embeddings": True, "rope_theta": 10000.0,
                 "rms_norm_eps": 0.02},
         matters={"eps": {"rms_norm_eps": 1e-6}, "renormalising": {"norm_topk_prob": False}}),
    Spec("qwen2_moe_list_f32", "layer 1 of 3 is dense by name, no biases, linear rope scaling",
         BASE | {"vocab_size": 113, "hidden_size": 40, "intermediate_size": 72,
                 "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64,
                 "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1,
                 "num_experts": 4, "num_experts_per_tok": 1, "mlp_only_layers": [1],
                 "qkv_bias": False, "use_sliding_window": True, "sliding_window": 9,
                 "rope_scaling": {"rope_type": "linear", "factor": 3.0}},
         matters={"linear scaling": {"rope_scaling": None}, "window": {"use_sliding_window": False},
                  "no renormalising": {"norm_topk_prob": True}}),
)
