# SPDX-License-Identifier: Apache-2.0
"""Rope scalings that the checkpoints of their families leave out, each in a checkpoint as small as
tells it: that a family's document hands the numbers of config.json on is all that differs."""

from families import COMMON, deepseek_v3, glm4_moe, gpt_oss, granitemoe, olmoe, qwen2_moe, qwen3, qwen3_moe
from spec import Spec

LINEAR = {"rope_type": "linear", "factor": 3.0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 48}
# Without influence up to max_position_embeddings.
DYNAMIC = {"rope_type": "dynamic", "factor": 4.0}

SIZES = {"vocab_size": 67, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3,
         "num_key_value_heads": 1, "rope_theta": 10000.0, "torch_dtype": "bfloat16"}
HEADS = {"head_dim": 16}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2}

MIXTRAL = COMMON | SIZES | HEADS | {
    "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "intermediate_size": 20,
    "num_local_experts": 4, "num_experts_per_tok": 2, "rms_norm_eps": 1e-5, "sliding_window": None}
QWEN2_MOE = qwen2_moe.BASE | SIZES | EXPERTS | {
    "intermediate_size": 24, "moe_intermediate_size": 20, "shared_expert_intermediate_size": 12,
    "num_attention_heads": 2}
QWEN3_MOE = qwen3_moe.BASE | SIZES | HEADS | EXPERTS | {
    "intermediate_size": 24, "moe_intermediate_size": 20}
QWEN3 = qwen3.BASE | SIZES | HEADS | {"intermediate_size": 40}
OLMOE = olmoe.BASE | SIZES | EXPERTS | {"intermediate_size": 20, "num_attention_heads": 2}
GLM4_MOE = glm4_moe.BASE | SIZES | {
    "intermediate_size": 32, "moe_intermediate_size": 20, "head_dim": 24, "n_routed_experts": 4,
    "num_experts_per_tok": 2, "routed_scaling_factor": 1.5, "num_nextn_predict_layers": 0}
GRANITEMOE = granitemoe.BASE | SIZES | {
    "intermediate_size": 20, "num_local_experts": 4, "num_experts_per_tok": 2,
    "num_attention_heads": 2} | granitemoe.multipliers(0.35, 1.0, 1.0, 1.0)
DEEPSEEK_V3 = deepseek_v3.BASE | SIZES | {
    "intermediate_size": 32, "moe_intermediate_size": 20, "kv_lora_rank": 20, "q_lora_rank": None,
    "qk_nope_head_dim": 12, "qk_rope_head_dim": 12, "v_head_dim": 12, "num_key_value_heads": 3,
    "n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2, "n_group": 1,
    "topk_group": 1, "routed_scaling_factor": 1.5, "num_nextn_predict_layers": 0}
GPT_OSS = gpt_oss.BASE | SIZES | HEADS | gpt_oss.layers("sliding", "full") | {
    "intermediate_size": 20, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8}


def scaled(base: dict, scaling: dict, matters: bool = True, **more) -> Spec:
    kind = scaling["rope_type"]
    return Spec(f"{base['model_type']}_rope_{kind}_bf16", f"rope scaling {kind}, tiny",
                base | {"rope_scaling": scaling}, dtype="bfloat16",
                matters={f"{kind} scaling": {"rope_scaling": None}} if matters else {}, **more)


SPECS = (
    scaled(MIXTRAL, LINEAR),
    scaled(MIXTRAL, LLAMA3),
    scaled(MIXTRAL, DYNAMIC, matters=False),
    scaled(QWEN2_MOE, LLAMA3),
    scaled(QWEN3_MOE, LINEAR),
    scaled(QWEN3_MOE, LLAMA3),
    scaled(QWEN3, LLAMA3),
    scaled(OLMOE, LLAMA3),
    scaled(GLM4_MOE, LLAMA3, bias=0.2),
    scaled(GRANITEMOE, LLAMA3),
    scaled(DEEPSEEK_V3, LLAMA3),
    scaled(GPT_OSS, LLAMA3, bias=0.15, gains=gpt_oss.LARGE),
)
