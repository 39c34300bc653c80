# SPDX-License-Identifier: Apache-2.0
"""GLM-4.5: a sigmoid router with a bias for the choice, half of each head rotated, dense first."""

from families import COMMON
from spec import Spec

BASE = COMMON | {
    "architectures": ["Glm4MoeForCausalLM"],
    "model_type": "glm4_moe",
    "attention_bias": True,
    "first_k_dense_replace": 1,
    "n_group": 1,
    "n_shared_experts": 1,
    "norm_topk_prob": True,
    "num_nextn_predict_layers": 1,
    "pad_token_id": 0,
    "partial_rotary_factor": 0.5,
    "rms_norm_eps": 1e-5,
    "rope_scaling": None,
    "rope_theta": 1000000.0,
    "topk_group": 1,
    "use_qk_norm": True,
}

SPECS = (
    Spec("glm4_moe_bf16", "as the hub has it, with tensors of multi-token prediction",
         BASE | {"vocab_size": 101, "hidden_size": 64, "intermediate_size": 96,
                 "moe_intermediate_size": 32, "head_dim": 32,
                 "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2,
                 "n_routed_experts": 8, "num_experts_per_tok": 3, "routed_scaling_factor": 2.5,
                 "eos_token_id": [2, 5, 6], "torch_dtype": "bfloat16"},
         dtype="bfloat16", other_dtype="float32",
         matters={"renormalising": {"norm_topk_prob": False},
                  "scale": {"routed_scaling_factor": 1.0},
                  "partial rotation": {"partial_rotary_factor": 1.0}},
         idle={"model.layers.2.enorm.weight": (64,), "model.layers.2.hnorm.weight": (64,),
               "model.layers.2.eh_proj.weight": (64, 128),
               "model.layers.2.shared_head.norm.weight": (64,)}),
    Spec("glm4_moe_plain_f32", "no qk norm, no biases, not renormalised, two shared experts, tied",
         BASE | {"vocab_size": 89, "hidden_size": 40, "intermediate_size": 56,
                 "moe_intermediate_size": 20, "head_dim": 16,
                 "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 1,
                 "n_routed_experts": 6, "num_experts_per_tok": 2, "routed_scaling_factor": 1.0,
                 "n_shared_experts": 2, "attention_bias": False, "use_qk_norm": False,
                 "norm_topk_prob": False, "tie_word_embeddings": True,
                 "num_nextn_predict_layers": 0},
         matters={"no renormalising": {"norm_topk_prob": True}}),
    Spec("glm4_moe_groups_f32", "2 of 4 groups, two of 3 layers dense, a quarter of 32 rotated",
         BASE | {"vocab_size": 83, "hidden_size": 48, "intermediate_size": 40,
                 "moe_intermediate_size": 24, "head_dim": 32, "partial_rotary_factor": 0.25,
                 "num_hidden_layers": 3, "num_attention_heads": 3, "num_key_value_heads": 3,
                 "n_routed_experts": 12, "num_experts_per_tok": 3, "routed_scaling_factor": 1.5,
                 "n_group": 4, "topk_group": 2, "first_k_dense_replace": 2,
                 "rope_theta": 500.0},
         bias=0.1, gains={r"mlp\.gate": 1.0},
         matters={"groups": {"n_group": 1, "topk_group": 1},
                  "scale": {"routed_scaling_factor": 1.0},
                  "partial rotation": {"partial_rotary_factor": 0.5}}),
)
