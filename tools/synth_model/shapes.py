# SPDX-License-Identifier: Apache-2.0
"""Shapes of real models."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    architecture: str  # of GGUF
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    experts: int
    top_k: int
    inner: int  # of an expert
    vocabulary: int
    rope_theta: float
    eps: float
    qk_norm: str  # "": none; "head": one for all heads; "full": over the whole width


SHAPES = {
    "olmoe-1b-7b": Shape("olmoe", 16, 2048, 16, 16, 128, 64, 8, 1024, 50304, 1e4, 1e-5, "full"),
    "qwen3-30b-a3b": Shape("qwen3moe", 48, 2048, 32, 4, 128, 128, 8, 768, 151936, 1e6, 1e-6, "head"),
    "mixtral-8x7b": Shape("llama", 32, 4096, 32, 8, 128, 8, 2, 14336, 32000, 1e6, 1e-5, ""),
}
TYPES = ("q4_0", "q8_0", "q4_K")
