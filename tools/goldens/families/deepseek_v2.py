# SPDX-License-Identifier: Apache-2.0
"""DeepSeek-V2: latent attention with interleaved rotation, a softmax router with or without groups.

rope_scaling leaves mscale_all_dim out: with it, transformers 4.57 forgets the factor that
DeepSeek's own code puts on the softmax.
"""

from families import COMMON
from spec import Spec

BASE = COMMON | {
    "architectures": ["DeepseekV2ForCausalLM"],
    "model_type": "deepseek_v2",
    "attention_bias": False,
    "aux_loss_alpha": 0.001,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "norm_topk_prob": False,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-6,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "scoring_func": "softmax",
    "seq_aux": True,
}

SPECS = (
    Spec("deepseek_v2_lite_bf16", "as V2-Lite: no query latent, no groups, YaRN, two shared experts",
         BASE | {"vocab_size": 97, "hidden_size": 64, "intermediate_size": 96,
                 "moe_intermediate_size": 32, "kv_lora_rank": 32, "q_lora_rank": None,
                 "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32,
                 "num_hidden_layers": 2, "num_attention_heads": 3, "num_key_value_heads": 3,
                 "n_routed_experts": 6, "n_shared_experts": 2, "num_experts_per_tok": 3,
                 "n_group": 1, "topk_group": 1, "topk_method": "greedy",
                 "routed_scaling_factor": 1.0, "torch_dtype": "bfloat16",
                 "rope_scaling": {"type": "yarn", "factor": 5.0, "beta_fast": 32, "beta_slow": 1,
                                  "original_max_position_embeddings": 48}},
         dtype="bfloat16", matters={"YaRN": {"rope_scaling": None}}),
    Spec("deepseek_v2_groups_f32", "as V2: query latent, 2 of 3 groups by their best, scaled; biases everywhere",
         BASE | {"vocab_size": 89, "hidden_size": 40, "intermediate_size": 56,
                 "moe_intermediate_size": 20, "kv_lora_rank": 24, "q_lora_rank": 28,
                 "qk_nope_head_dim": 12, "qk_rope_head_dim": 10, "v_head_dim": 14,
                 "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 4,
                 "n_routed_experts": 9, "n_shared_experts": 1, "num_experts_per_tok": 3,
                 "n_group": 3, "topk_group": 2, "topk_method": "group_limited_greedy",
                 "routed_scaling_factor": 3.0, "attention_bias": True, "mlp_bias": True},
         bias=0.2, matters={"groups": {"topk_method": "greedy"}, "scale": {"routed_scaling_factor": 1.0}}),
    Spec("deepseek_v2_wide_f32", "all layers have experts, values wider than keys, a large eps but of the latents, tied",
         BASE | {"vocab_size": 79, "hidden_size": 36, "intermediate_size": 40,
                 "moe_intermediate_size": 36, "kv_lora_rank": 40, "q_lora_rank": 16,
                 "qk_nope_head_dim": 8, "qk_rope_head_dim": 20, "v_head_dim": 32,
                 "num_hidden_layers": 2, "num_attention_heads": 5, "num_key_value_heads": 5,
                 "n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 1,
                 "n_group": 1, "topk_group": 1, "topk_method": "greedy",
                 "routed_scaling_factor": 0.5, "first_k_dense_replace": 0,
                 "tie_word_embeddings": True, "rope_theta": 50000.0, "rms_norm_eps": 0.02},
         matters={"scale": {"routed_scaling_factor": 1.0}, "eps": {"rms_norm_eps": 1e-6},
                  "eps of the latents": {"@variance_epsilon": 0.02}}),
)
