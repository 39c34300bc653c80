# SPDX-License-Identifier: Apache-2.0
"""The golden GGUF files: each codec on the Mixtral architecture, and every family in q8_0, in a mixture of K
types and in a mixture of rare ones. For what is not committed: every family in every codec."""

from dataclasses import dataclass, field

from families import (COMMON, deepseek_v2, deepseek_v3, glm4_moe, gpt_oss, granitemoe, llama,
                      olmoe, qwen2_moe, qwen3, qwen3_moe)

SMALL_CODECS = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "IQ4_NL", "MXFP4")
K_CODECS = ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS")  # rows are multiples of 256

SIZE = {"vocab_size": 80, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16}
WIDE = {"vocab_size": 64, "hidden_size": 256, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 1, "head_dim": 64}
LATENT = {"kv_lora_rank": 32, "q_lora_rank": 32, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16,
          "v_head_dim": 32, "num_key_value_heads": 4}
DEEPSEEK = SIZE | LATENT | {"intermediate_size": 96, "moe_intermediate_size": 32, "n_shared_experts": 1}
DEEPSEEK_YARN = {"type": "yarn", "factor": 5.0, "beta_fast": 32.0, "beta_slow": 1.0,
                 "original_max_position_embeddings": 32}
MIXTRAL = COMMON | {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2,
                    "rms_norm_eps": 1e-5, "rope_theta": 1e6, "sliding_window": None}

FAMILIES = {
    "llama": llama.BASE | SIZE | {"intermediate_size": 96},
    "qwen3": qwen3.BASE | SIZE | {"intermediate_size": 96, "head_dim": 32},
    "qwen2moe": qwen2_moe.BASE | SIZE | {
        "intermediate_size": 96, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64,
        "num_experts": 5, "num_experts_per_tok": 2, "norm_topk_prob": False},
    "qwen3moe": qwen3_moe.BASE | SIZE | {
        "intermediate_size": 96, "moe_intermediate_size": 32, "num_experts": 6, "num_experts_per_tok": 3,
        "head_dim": 32, "norm_topk_prob": True},
    "olmoe": olmoe.BASE | SIZE | {
        "intermediate_size": 32, "num_experts": 5, "num_experts_per_tok": 2, "norm_topk_prob": False,
        "num_key_value_heads": 4},
    "deepseek2": deepseek_v2.BASE | DEEPSEEK | {
        "n_routed_experts": 5, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
        "topk_method": "greedy", "routed_scaling_factor": 1.0,
        # Equal: transformers then leaves the rotation as it is, as llama.cpp does.
        "rope_scaling": DEEPSEEK_YARN | {"mscale": 0.7, "mscale_all_dim": 0.7}},
    "deepseek3": deepseek_v3.BASE | DEEPSEEK | {
        "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 4, "topk_group": 2,
        "routed_scaling_factor": 2.5, "num_nextn_predict_layers": 0,
        "rope_scaling": DEEPSEEK_YARN | {"mscale": 1.0, "mscale_all_dim": 1.0}},
    "glm4moe": glm4_moe.BASE | SIZE | {
        "intermediate_size": 96, "moe_intermediate_size": 32, "head_dim": 32, "n_routed_experts": 6,
        "num_experts_per_tok": 2, "routed_scaling_factor": 1.5, "num_nextn_predict_layers": 0},
    "gpt-oss": gpt_oss.BASE | SIZE | gpt_oss.layers("sliding", "full") | {
        "intermediate_size": 32, "num_local_experts": 5, "num_experts_per_tok": 2, "sliding_window": 8,
        "rope_scaling": gpt_oss.YARN | {"truncate": True}},  # as llama.cpp does whatever the checkpoint says
    "granitemoe": granitemoe.BASE | SIZE | {
        "intermediate_size": 32, "num_local_experts": 5, "num_experts_per_tok": 2}
    | granitemoe.multipliers(0.2, 4.0, 3.0, 0.5),
}


@dataclass(frozen=True)
class GgufSpec:
    name: str
    settings: dict  # of config.json
    codec: str  # of every matrix but routers
    others: dict[str, str] = field(default_factory=dict)  # of tensors with this in their name
    old_latent: bool = False  # gguf_convert
    choice_bias: float = 0.0  # spec
    # Between the last chosen expert and the next, of the largest score. A choice that rounding turns over makes
    # an error of another kind: positions whose logits depend on a closer one are not compared.
    near_tie: float = 0.02


# Rows that the K types fill. Other rows are q5_0, as llama.cpp stores them.
FILLED = {"vocab_size": 64, "hidden_size": 256}
MIXTURES = (("Q4_K", "Q6_K"), ("Q5_K", "Q3_K"), ("IQ4_XS", "Q2_K"), ("Q3_K", "Q5_K"), ("Q6_K", "Q4_K"))


def short(settings: dict) -> dict:
    """With one layer, where a family allows it: a near tie in the last layer spoils no other position."""
    layers = 2 if "first_k_dense_replace" in settings or "layer_types" in settings else 1
    return settings | {"num_hidden_layers": layers}


def mixtures() -> list[GgufSpec]:
    """Each family in two K types, as files of many tools have them."""
    made = []
    for i, (name, settings) in enumerate(FAMILIES.items()):
        filled = short(settings) | FILLED
        if "first_k_dense_replace" in settings:
            filled |= {"intermediate_size": 64}
        if name in ("qwen2moe", "olmoe", "granitemoe"):  # heads are as wide together as hidden
            filled |= {"head_dim": 64}
        codec, other = MIXTURES[i % len(MIXTURES)]
        made.append(GgufSpec(f"{name}_k", filled, codec, {"attn_v": other, "attn_k": other, "output": other}))
    return made


def rare() -> list[GgufSpec]:
    """Each family in types that its other files do not have."""
    # What DeepSeek-V2 compares is probabilities, which differ more than the logits behind them.
    return [GgufSpec(f"{name}_rare", short(settings), "Q5_1", {"attn": "Q4_1", "ffn": "MXFP4"},
                     near_tie=0.1 if name == "deepseek2" else 0.04)
            for name, settings in FAMILIES.items()]


def committed() -> list[GgufSpec]:
    small = MIXTRAL | SIZE | {"intermediate_size": 32}
    wide = MIXTRAL | WIDE | {"intermediate_size": 256, "num_local_experts": 2, "num_experts_per_tok": 1}
    made = [GgufSpec(f"codec_{codec.lower()}", small, codec) for codec in SMALL_CODECS]
    made += [GgufSpec(f"codec_{codec.lower()}", wide, codec) for codec in K_CODECS]
    made += [GgufSpec(f"{name}_q8_0", settings, "Q8_0", {"_exps": "MXFP4"} if name == "gpt-oss" else {})
             for name, settings in FAMILIES.items()]
    made.append(GgufSpec("deepseek2_old", FAMILIES["deepseek2"], "Q8_0", old_latent=True))
    # All biased scores are negative: a group that is not kept must count for less than any of them.
    made.append(GgufSpec("deepseek3_masked", FAMILIES["deepseek3"], "Q8_0", choice_bias=-1.8))
    return made + mixtures() + rare()


def every_codec() -> list[GgufSpec]:
    """Each family in each codec: made and compared, not committed."""
    families = {"mixtral": MIXTRAL | SIZE | {"intermediate_size": 32}} | FAMILIES
    return [GgufSpec(f"{name}_{codec.lower()}", short(settings) | (wide(settings) if codec in K_CODECS else {}),
                     codec)
            for codec in SMALL_CODECS + K_CODECS for name, settings in families.items()]


def wide(settings: dict) -> dict:
    """Sizes whose rows the K types fill, but those of the keys' projection of a latent."""
    sizes = ("hidden_size", "intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size",
             "kv_lora_rank", "q_lora_rank")
    return {size: 256 for size in sizes if size in settings} | {
        "vocab_size": 64, "v_head_dim" if "v_head_dim" in settings else "head_dim": 64}
