# SPDX-License-Identifier: Apache-2.0
"""Mixtral: sizes, windows and storage."""

from families import COMMON
from spec import Spec


def spec(name: str, purpose: str, *, vocab, hidden, inner, layers, heads, kv_heads, experts, top_k,
         head_dim=None, window=None, theta=1e6, eps=1e-5, dtype="float32", settings=(), matters=None, **more):
    values = COMMON | {
        "architectures": ["MixtralForCausalLM"],
        "bos_token_id": 0 if "tokenizer" in more else 1,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "model_type": "mixtral",
        "num_attention_heads": heads,
        "num_experts_per_tok": top_k,
        "num_hidden_layers": layers,
        "num_key_value_heads": kv_heads,
        "num_local_experts": experts,
        "output_router_logits": False,
        "rms_norm_eps": eps,
        "rope_theta": theta,
        "router_aux_loss_coef": 0.02,
        "sliding_window": window,
        "torch_dtype": dtype,
        "transformers_version": "4.46.3",
        "vocab_size": vocab,
    } | dict(settings)
    if head_dim:  # config.json may leave it out when it is hidden / heads
        values["head_dim"] = head_dim
    window_matters = {"window": {"sliding_window": None}} if window else {}
    return Spec(name, purpose, values, dtype=dtype, matters=window_matters | (matters or {}), **more)


TIED = {"tie_word_embeddings": True}

SPECS = (
    spec("gqa2_f32", "2 query heads to a key head, head_dim not stated",
         vocab=97, hidden=64, inner=32, layers=2, heads=4, kv_heads=2, experts=4, top_k=2, theta=1e4),
    spec("mqa_odd_f32", "one key head, sizes that are no multiple of 32 or 8, head_dim 20, top 3, YaRN",
         vocab=131, hidden=40, inner=24, layers=2, heads=5, kv_heads=1, head_dim=20,
         experts=8, top_k=3, theta=5e4, eps=1e-6,
         settings={"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 16.0, "beta_slow": 1.0,
                                    "original_max_position_embeddings": 48}},
         matters={"YaRN": {"rope_scaling": None}}),
    spec("window_mha_f32", "sliding window 8, no sharing of key heads, head_dim 24, tied head",
         vocab=97, hidden=32, inner=32, layers=3, heads=4, kv_heads=4, head_dim=24,
         experts=4, top_k=2, window=8, theta=1e4, settings=TIED),
    spec("top1_f32", "one expert a token, hidden 72, tied head",
         vocab=101, hidden=72, inner=24, layers=2, heads=6, kv_heads=3, head_dim=12,
         experts=4, top_k=1, settings=TIED),
    spec("experts16_top5_bf16", "16 experts, 5 a token, 4 query heads to a key head",
         vocab=257, hidden=32, inner=32, layers=2, heads=8, kv_heads=2, head_dim=8,
         experts=16, top_k=5, dtype="bfloat16"),
    spec("window_wide_f16", "float16, attention twice as wide as hidden, window 9",
         vocab=131, hidden=96, inner=32, layers=2, heads=6, kv_heads=2, head_dim=32,
         experts=4, top_k=2, window=9, theta=1e5, dtype="float16"),
    spec("sharded_bf16", "three files with an index, a list of end-of-sequence ids, 3 layers",
         vocab=89, hidden=64, inner=32, layers=3, heads=4, kv_heads=1, head_dim=16,
         experts=4, top_k=2, dtype="bfloat16", shards=3, settings={"eos_token_id": [2, 5, 7]}),
    spec("mixed_bf16_f32", "bfloat16 matrices beside float32 norms and routers, top 3 of 4",
         vocab=113, hidden=32, inner=96, layers=2, heads=2, kv_heads=1, head_dim=32,
         experts=4, top_k=3, theta=5e5, dtype="bfloat16", other_dtype="float32"),
    # Not 1: the cache of transformers 4.57 forgets nothing then.
    spec("window2_f32", "a position sees itself and one before it; sizes fit no block",
         vocab=67, hidden=24, inner=40, layers=2, heads=3, kv_heads=3, head_dim=10,
         experts=8, top_k=2, window=2, theta=1e4, eps=0.02),
    spec("text_bf16", "has a byte-level BPE tokenizer and runs from text to text",
         vocab=600, hidden=64, inner=32, layers=2, heads=4, kv_heads=2, head_dim=16,
         experts=8, top_k=2, dtype="bfloat16", tokenizer="text600",
         settings=TIED | {"eos_token_id": 1}),
)
