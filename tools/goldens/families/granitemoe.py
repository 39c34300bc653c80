# SPDX-License-Identifier: Apache-2.0
"""Granite-MoE: four multipliers; gate and up of all experts in one tensor."""

from families import COMMON
from spec import Spec

BASE = COMMON | {
    "architectures": ["GraniteMoeForCausalLM"],
    "model_type": "granitemoe",
    "attention_bias": False,
    "output_router_logits": False,
    "pad_token_id": 0,
    "rms_norm_eps": 1e-6,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "router_aux_loss_coef": 0.0,
}


def multipliers(attention: float, embedding: float, logits: float, residual: float) -> dict:
    return {"attention_multiplier": attention, "embedding_multiplier": embedding,
            "logits_scaling": logits, "residual_multiplier": residual}


# A small residual multiplier keeps the embedding in the lead: it starts smaller.
SPECS = (
    Spec("granitemoe_bf16", "as the hub has it: tied, all multipliers",
         BASE | {"vocab_size": 97, "hidden_size": 64, "intermediate_size": 32,
                 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
                 "num_local_experts": 6, "num_experts_per_tok": 3, "tie_word_embeddings": True,
                 "torch_dtype": "bfloat16"} | multipliers(0.2, 12.0, 6.0, 0.6),
         dtype="bfloat16", gains={"embed": 0.25},
         matters={"attention": {"attention_multiplier": 1.0},
                  "embedding": {"embedding_multiplier": 1.0}, "logits": {"logits_scaling": 1.0},
                  "residual": {"residual_multiplier": 1.0}}),
    Spec("granitemoe_plain_f32", "every multiplier 1 but that of attention, a head of its own",
         BASE | {"vocab_size": 101, "hidden_size": 40, "intermediate_size": 28,
                 "num_hidden_layers": 2, "num_attention_heads": 5, "num_key_value_heads": 5,
                 "num_local_experts": 4, "num_experts_per_tok": 1, "rms_norm_eps": 0.02,
                 "rope_scaling": {"rope_type": "linear", "factor": 3.0}} | multipliers(0.35, 1.0, 1.0, 1.0),
         matters={"attention": {"attention_multiplier": 1.0}, "eps": {"rms_norm_eps": 1e-6},
                  "linear scaling": {"rope_scaling": None}}),
    Spec("granitemoe_bias_f32", "biases on q, k, v and o, multipliers above and below 1",
         BASE | {"vocab_size": 79, "hidden_size": 36, "intermediate_size": 44,
                 "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 3,
                 "num_local_experts": 8, "num_experts_per_tok": 2, "attention_bias": True,
                 "rope_theta": 150000.0} | multipliers(0.5, 0.4, 0.25, 1.5),
         bias=0.15, matters={"attention": {"attention_multiplier": 1.0},
                  "embedding": {"embedding_multiplier": 1.0}, "logits": {"logits_scaling": 1.0},
                  "residual": {"residual_multiplier": 1.0}}),
)
