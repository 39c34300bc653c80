# SPDX-License-Identifier: Apache-2.0
"""GPT-OSS: sinks, biases everywhere, clamped interleaved gate and up, every second layer windowed."""

from families import COMMON
from spec import Spec

YARN = {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "rope_type": "yarn", "truncate": False,
        "original_max_position_embeddings": 64}

BASE = COMMON | {
    "architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss",
    "attention_bias": True,
    "experts_per_token": 4,
    "initial_context_length": 64,
    "output_router_logits": False,
    "pad_token_id": 0,
    "rms_norm_eps": 1e-5,
    "rope_scaling": YARN,
    "rope_theta": 150000.0,
    "router_aux_loss_coef": 0.9,
    "swiglu_limit": 7.0,
}


def layers(*kinds: str) -> dict:
    return {"layer_types": [f"{kind}_attention" for kind in kinds], "num_hidden_layers": len(kinds)}


# Gates that reach the limit of 7.
LARGE = {r"experts\.gate_up": 5.0, r"experts\.down": 0.8}
MATTERS = {"window": {"sliding_window": 200}, "clamp": {"@limit": 1e9}, "alpha": {"@alpha": 1.0}}

SPECS = (
    Spec("gpt_oss_bf16", "as the hub has it, in bfloat16: window 8, YaRN without truncation",
         BASE | layers("sliding", "full") | {
             "vocab_size": 97, "hidden_size": 64, "intermediate_size": 32, "head_dim": 16,
             "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 6,
             "num_experts_per_tok": 3, "sliding_window": 8, "torch_dtype": "bfloat16"},
         dtype="bfloat16", bias=0.15, gains=LARGE, matters=MATTERS | {"YaRN": {"rope_scaling": None}}),
    Spec("gpt_oss_full_f32", "full attention first, no rope scaling, tied, one expert a token",
         BASE | layers("full", "sliding", "sliding") | {
             "vocab_size": 79, "hidden_size": 40, "intermediate_size": 28, "head_dim": 20,
             "num_attention_heads": 5, "num_key_value_heads": 1, "num_local_experts": 4,
             "num_experts_per_tok": 1, "sliding_window": 5, "tie_word_embeddings": True,
             "rope_scaling": None, "rope_theta": 10000.0, "rms_norm_eps": 0.02},
         bias=0.15, gains=LARGE, matters=MATTERS | {"eps": {"rms_norm_eps": 1e-6}}),
    Spec("gpt_oss_yarn_f32", "YaRN with truncation, window 17, as many key heads as query heads",
         BASE | layers("sliding", "full", "sliding") | {
             "vocab_size": 89, "hidden_size": 36, "intermediate_size": 44, "head_dim": 12,
             "num_attention_heads": 4, "num_key_value_heads": 4, "num_local_experts": 5,
             "num_experts_per_tok": 4, "sliding_window": 17,
             "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 8.0,
                              "beta_slow": 1.0, "original_max_position_embeddings": 32}},
         bias=0.15, gains=LARGE, matters=MATTERS | {"YaRN": {"rope_scaling": None}}),
    Spec("gpt_oss_mxfp4", "experts stored as blocks of 4-bit floats, as the hub has them",
         BASE | layers("sliding", "full") | {
             "vocab_size": 101, "hidden_size": 96, "intermediate_size": 32, "head_dim": 16,
             "num_attention_heads": 6, "num_key_value_heads": 2, "num_local_experts": 5,
             "num_experts_per_tok": 2, "sliding_window": 9, "torch_dtype": "bfloat16"},
         dtype="bfloat16", quantised="mxfp4", bias=0.15, gains=LARGE, matters=MATTERS),
)
