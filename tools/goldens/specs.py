# SPDX-License-Identifier: Apache-2.0
"""The golden checkpoints: what each one is and which property it is there for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Spec:
    name: str
    purpose: str
    vocab: int
    hidden: int
    inner: int  # width of one expert
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    experts: int
    top_k: int
    window: int | None = None
    theta: float = 1e6
    eps: float = 1e-5
    tied: bool = False
    # Storage of the matrices and of the norms and routers; they differ in one checkpoint.
    dtype: str = "float32"
    norm_dtype: str | None = None
    shards: int = 1
    eos: int | list[int] = 2
    # A config.json may leave head_dim out when it is hidden / heads.
    states_head_dim: bool = True
    # Name of the tokenizer (tests/golden/tokenizers) that is copied into the folder.
    tokenizer: str | None = None


SPECS = (
    Spec("gqa2_f32", "2 query heads to a key head, head_dim not stated",
         vocab=97, hidden=64, inner=32, layers=2, heads=4, kv_heads=2, head_dim=16,
         experts=4, top_k=2, theta=1e4, states_head_dim=False),
    Spec("mqa_odd_f32", "one key head, sizes that are no multiple of 32 or 8, head_dim 20, top 3",
         vocab=131, hidden=40, inner=24, layers=2, heads=5, kv_heads=1, head_dim=20,
         experts=8, top_k=3, theta=5e4, eps=1e-6),
    Spec("window_mha_f32", "sliding window 8, no sharing of key heads, head_dim 24, tied head",
         vocab=97, hidden=32, inner=32, layers=3, heads=4, kv_heads=4, head_dim=24,
         experts=4, top_k=2, window=8, theta=1e4, tied=True),
    Spec("top1_f32", "one expert a token, hidden 72, tied head",
         vocab=101, hidden=72, inner=24, layers=2, heads=6, kv_heads=3, head_dim=12,
         experts=4, top_k=1, tied=True),
    Spec("experts16_top5_bf16", "16 experts, 5 a token, 4 query heads to a key head",
         vocab=257, hidden=32, inner=32, layers=2, heads=8, kv_heads=2, head_dim=8,
         experts=16, top_k=5, dtype="bfloat16"),
    Spec("window_wide_f16", "float16, attention twice as wide as hidden, window 9",
         vocab=131, hidden=96, inner=32, layers=2, heads=6, kv_heads=2, head_dim=32,
         experts=4, top_k=2, window=9, theta=1e5, dtype="float16"),
    Spec("sharded_bf16", "three files with an index, a list of end-of-sequence ids, 3 layers",
         vocab=89, hidden=64, inner=32, layers=3, heads=4, kv_heads=1, head_dim=16,
         experts=4, top_k=2, dtype="bfloat16", shards=3, eos=[2, 5, 7]),
    Spec("mixed_bf16_f32", "bfloat16 matrices beside float32 norms and routers, top 3 of 4",
         vocab=113, hidden=32, inner=96, layers=2, heads=2, kv_heads=1, head_dim=32,
         experts=4, top_k=3, theta=5e5, dtype="bfloat16", norm_dtype="float32"),
    # Not 1: the cache of transformers 4.57 forgets nothing then.
    Spec("window2_f32", "a position sees itself and one before it; sizes fit no block",
         vocab=67, hidden=24, inner=40, layers=2, heads=3, kv_heads=3, head_dim=10,
         experts=8, top_k=2, window=2, theta=1e4),
    Spec("text_bf16", "has a byte-level BPE tokenizer and runs from text to text",
         vocab=600, hidden=64, inner=32, layers=2, heads=4, kv_heads=2, head_dim=16,
         experts=8, top_k=2, dtype="bfloat16", tied=True, eos=1, tokenizer="text600"),
)
