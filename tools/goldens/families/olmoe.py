# SPDX-License-Identifier: Apache-2.0
"""OLMoE: queries and keys normalised over their whole width."""

from families import COMMON
from spec import Spec

BASE = COMMON | {
    "architectures": ["OlmoeForCausalLM"],
    "model_type": "olmoe",
    "attention_bias": False,
    "clip_qkv": None,
    "norm_topk_prob": False,
    "output_router_logits": False,
    "pad_token_id": 1,
    "rms_norm_eps": 1e-5,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "router_aux_loss_coef": 0.01,
}

SPECS = (
    Spec("olmoe_bf16", "as the hub has it: as many key heads as query heads, not renormalised",
         BASE | {"vocab_size": 101, "hidden_size": 64, "intermediate_size": 32,
                 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
                 "num_experts": 8, "num_experts_per_tok": 4, "torch_dtype": "bfloat16"},
         dtype="bfloat16", matters={"no renormalising": {"norm_topk_prob": True}}),
    Spec("olmoe_gqa_f32", "3 query heads to a key head, clipped, renormalised, tied, heads of 10",
         BASE | {"vocab_size": 83, "hidden_size": 60, "intermediate_size": 20,
                 "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2,
                 "num_experts": 5, "num_experts_per_tok": 2, "norm_topk_prob": True,
                 "tie_word_embeddings": True, "rope_theta": 500000.0, "rms_norm_eps": 0.02,
                 "clip_qkv": 1.1},
         matters={"clip": {"clip_qkv": None}, "eps": {"rms_norm_eps": 1e-6}, "renormalising": {"norm_topk_prob": False}}),
    Spec("olmoe_bias_f32", "biases on q, k, v and o, linear rope scaling, one expert a token",
         BASE | {"vocab_size": 71, "hidden_size": 32, "intermediate_size": 44,
                 "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
                 "num_experts": 4, "num_experts_per_tok": 1, "attention_bias": True,
                 "rope_scaling": {"rope_type": "linear", "factor": 2.5}},
         matters={"linear scaling": {"rope_scaling": None},
                  "no renormalising": {"norm_topk_prob": True}}),
)
