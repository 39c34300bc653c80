# SPDX-License-Identifier: Apache-2.0
"""Checkpoints as GGUF: names, order of rows and metadata, as llama.cpp reads them.

`tensors()` only renames, permutes, stacks and splits, so it works on arrays of any type: on arrays
of indices it tells where each number of a GGUF tensor comes from.
"""

import re

import numpy as np

ARCHITECTURES = {
    "mixtral": "llama", "llama": "llama", "qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe",
    "qwen3": "qwen3", "olmoe": "olmoe", "deepseek_v2": "deepseek2", "deepseek_v3": "deepseek2",
    "glm4_moe": "glm4moe", "gpt_oss": "gpt-oss", "granitemoe": "granitemoe",
}
# Rows of q and k are stored so that the two elements that are rotated together are neighbours.
PERMUTED = ("mixtral", "llama", "granitemoe")
RENAMES = (
    (r"model\.embed_tokens", "token_embd"), (r"model\.norm", "output_norm"), (r"lm_head", "output"),
    (r"model\.layers\.(\d+)\.", r"blk.\1."),
    (r"input_layernorm", "attn_norm"), (r"post_attention_layernorm", "ffn_norm"),
    (r"self_attn\.([qkv])_proj", r"attn_\1"), (r"self_attn\.o_proj", "attn_output"),
    (r"self_attn\.([qk])_norm", r"attn_\1_norm"), (r"self_attn\.sinks", "attn_sinks.weight"),
    (r"self_attn\.q_([ab])_proj", r"attn_q_\1"), (r"self_attn\.q_a_layernorm", "attn_q_a_norm"),
    (r"self_attn\.kv_a_proj_with_mqa", "attn_kv_a_mqa"),
    (r"self_attn\.kv_a_layernorm", "attn_kv_a_norm"),
    (r"mlp\.gate\.e_score_correction_bias", "exp_probs_b.bias"),
    (r"block_sparse_moe\.router\.layer|(block_sparse_moe|mlp)\.(gate|router)\.", "ffn_gate_inp."),
    (r"mlp\.shared_expert_gate", "ffn_gate_inp_shexp"),
    (r"mlp\.shared_experts?\.(gate|up|down)_proj", r"ffn_\1_shexp"),
    (r"mlp\.(gate|up|down)_proj", r"ffn_\1"),
)
EXPERT = re.compile(r"model\.layers\.(\d+)\.(?:block_sparse_moe|mlp)\.experts\.(\d+)\.(\w+)\.weight")
EXPERT_PARTS = {"w1": "gate", "w2": "down", "w3": "up",
                "gate_proj": "gate", "up_proj": "up", "down_proj": "down"}


def renamed(name: str) -> str:
    for pattern, new in RENAMES:
        name = re.sub(pattern, new, name)
    return name.replace("ffn_gate_inp..", "ffn_gate_inp.")


def permuted(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows (i, i + dim/2) of each head become (2i, 2i + 1)."""
    return np.ascontiguousarray(
        rows.reshape(heads, 2, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape))


def split_latent(s: dict, kv_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """kv_b_proj [heads * (nope + value), latent] as k_b [heads, latent, nope] and v_b [heads, value,
    latent]."""
    heads = kv_b.reshape(s["num_attention_heads"], -1, kv_b.shape[-1])
    nope = s["qk_nope_head_dim"]
    return heads[:, :nope].swapaxes(1, 2), heads[:, nope:]


def fused_experts(kind: str, prefix: str, name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    """GPT-OSS: [expert, inputs, outputs], gate and up in turns. Granite: [expert, outputs, inputs], gate
    before up."""
    if kind == "granitemoe":
        if name == "output_linear":
            return {f"{prefix}.ffn_down_exps.weight": array}
        gate, up = np.split(array, 2, axis=1)
        return {f"{prefix}.ffn_gate_exps.weight": gate, f"{prefix}.ffn_up_exps.weight": up}
    part, _, bias = name.partition("_proj")
    ending = "bias" if bias else "weight"
    array = array if bias else array.swapaxes(1, 2)
    if part == "down":
        return {f"{prefix}.ffn_down_exps.{ending}": array}
    return {f"{prefix}.ffn_gate_exps.{ending}": array[:, 0::2],
            f"{prefix}.ffn_up_exps.{ending}": array[:, 1::2]}


def tensors(s: dict, checkpoint: dict[str, np.ndarray], old_latent: bool = False) -> dict[str, np.ndarray]:
    """s: config.json. old_latent: the projections of latent attention as files before 2025 hold them."""
    kind = s["model_type"]
    made: dict[str, np.ndarray] = {}
    experts: dict[str, dict[int, np.ndarray]] = {}
    for name, array in checkpoint.items():
        prefix = re.sub(r"model\.layers\.(\d+)\..*", r"blk.\1", name)
        if match := EXPERT.fullmatch(name):
            stack = f"blk.{match[1]}.ffn_{EXPERT_PARTS[match[3]]}_exps.weight"
            experts.setdefault(stack, {})[int(match[2])] = array
        elif match := re.search(r"experts\.((?:gate_up|down)_proj(?:_bias)?)$|(\w+_linear)\.weight$", name):
            made |= fused_experts(kind, prefix, match[1] or match[2], array)
        elif "kv_b_proj" in name and old_latent:
            made[f"{prefix}.attn_kv_b.weight"] = array
        elif "kv_b_proj" in name:
            made[f"{prefix}.attn_k_b.weight"], made[f"{prefix}.attn_v_b.weight"] = split_latent(s, array)
        else:
            new = renamed(name)
            if kind in PERMUTED and re.search(r"attn_[qk]\.", new):
                heads = s["num_attention_heads" if "attn_q." in new else "num_key_value_heads"]
                array = permuted(array, heads)
            if kind in ("glm4_moe", "gpt_oss"):
                new = new.replace("ffn_norm", "post_attention_norm")
            if new.endswith("ffn_gate_inp_shexp.weight"):
                array = array.reshape(-1)
            made[new] = array
    for stack, parts in experts.items():
        made[stack] = np.stack([parts[i] for i in range(len(parts))])
    return made


def metadata(s: dict, old_latent: bool = False) -> dict[str, int | float | bool | str]:
    """Keys and values of the file behind general.architecture; keys without a dot in front are those
    of the architecture."""
    kind = s["model_type"]
    heads = s["num_attention_heads"]
    head_dim = s.get("head_dim") or s["hidden_size"] // heads
    scaling = s.get("rope_scaling") or {}
    experts = s.get("num_local_experts") or s.get("num_experts") or s.get("n_routed_experts") or 0
    made = {
        "vocab_size": s["vocab_size"], "context_length": s["max_position_embeddings"],
        "embedding_length": s["hidden_size"], "block_count": s["num_hidden_layers"],
        "feed_forward_length": s["intermediate_size"], "attention.head_count": heads,
        "attention.head_count_kv": s["num_key_value_heads"], "attention.key_length": head_dim,
        "attention.value_length": head_dim, "attention.layer_norm_rms_epsilon": s["rms_norm_eps"],
        "rope.freq_base": s["rope_theta"],
        "rope.dimension_count": int(head_dim * s.get("partial_rotary_factor", 1)),
    }
    if experts:
        made |= {"expert_count": experts, "expert_used_count": s["num_experts_per_tok"]}
    if s.get("moe_intermediate_size"):
        made["expert_feed_forward_length"] = s["moe_intermediate_size"]
    if kind == "gpt_oss":
        made |= {"expert_feed_forward_length": s["intermediate_size"],
                 "attention.sliding_window": s["sliding_window"]}
    if kind == "qwen2_moe":
        made["expert_shared_feed_forward_length"] = s["shared_expert_intermediate_size"]
    if kind == "granitemoe":
        made |= {"embedding_scale": s["embedding_multiplier"], "logit_scale": s["logits_scaling"],
                 "residual_scale": s["residual_multiplier"], "attention.scale": s["attention_multiplier"]}
    if kind in ("glm4_moe", "deepseek_v2", "deepseek_v3"):
        made |= {"leading_dense_block_count": s["first_k_dense_replace"],
                 "expert_shared_count": s["n_shared_experts"],
                 "expert_weights_scale": s["routed_scaling_factor"],
                 "expert_weights_norm": s["norm_topk_prob"],
                 "expert_gating_func": 1 if kind == "deepseek_v2" else 2}
        if s["n_group"] > 1:
            made |= {"expert_group_count": s["n_group"], "expert_group_used_count": s["topk_group"]}
    if kind in ("deepseek_v2", "deepseek_v3"):
        rope = s["qk_rope_head_dim"]
        made |= {"attention.kv_lora_rank": s["kv_lora_rank"],
                 "attention.key_length": s["qk_nope_head_dim"] + rope,
                 "attention.value_length": s["v_head_dim"], "rope.dimension_count": rope}
        if not old_latent:
            made |= {"attention.head_count_kv": 1,
                     "attention.key_length_mla": made["attention.key_length"],
                     "attention.value_length_mla": made["attention.value_length"],
                     "attention.key_length": s["kv_lora_rank"] + rope,
                     "attention.value_length": s["kv_lora_rank"]}
        if s["q_lora_rank"]:
            made["attention.q_lora_rank"] = s["q_lora_rank"]
    if scaling:
        made |= {"rope.scaling.type": "yarn", "rope.scaling.factor": scaling["factor"],
                 "rope.scaling.original_context_length": scaling["original_max_position_embeddings"]}
        if kind in ("deepseek_v2", "deepseek_v3"):
            made["rope.scaling.yarn_log_multiplier"] = 0.1 * scaling["mscale_all_dim"]
        if kind == "gpt_oss":
            made |= {"rope.scaling.yarn_beta_fast": scaling["beta_fast"],
                     "rope.scaling.yarn_beta_slow": scaling["beta_slow"]}
    return {f"{ARCHITECTURES[kind]}.{key}": value for key, value in made.items()}
