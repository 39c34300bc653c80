# SPDX-License-Identifier: Apache-2.0
"""A GGUF file of a Qwen3-MoE model whose weights are all zero: as large as wanted, but a hole on the disk."""

import struct
from pathlib import Path

F32, Q8_0 = 0, 8  # GGML types
UINT32, FLOAT32, STRING = 4, 6, 8  # GGUF metadata types
ALIGNMENT = 32


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, value) -> bytes:
    if isinstance(value, str):
        return text(key) + struct.pack("<I", STRING) + text(value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", FLOAT32, value)
    return text(key) + struct.pack("<II", UINT32, value)


def write(path: Path, layers: int, hidden: int, experts: int, inner: int, vocabulary: int) -> None:
    heads, kv_heads, head_dim = 8, 2, 128
    metadata = {
        "general.architecture": "qwen3moe", "qwen3moe.block_count": layers, "qwen3moe.context_length": 4096,
        "qwen3moe.embedding_length": hidden, "qwen3moe.feed_forward_length": inner,
        "qwen3moe.attention.head_count": heads, "qwen3moe.attention.head_count_kv": kv_heads,
        "qwen3moe.attention.key_length": head_dim, "qwen3moe.attention.value_length": head_dim,
        "qwen3moe.rope.freq_base": 1e6, "qwen3moe.attention.layer_norm_rms_epsilon": 1e-6,
        "qwen3moe.expert_count": experts, "qwen3moe.expert_used_count": 4,
        "qwen3moe.expert_feed_forward_length": inner, "qwen3moe.vocab_size": vocabulary, "tokenizer.ggml.model": "none"}
    tensors = {"token_embd": (vocabulary, hidden), "output": (vocabulary, hidden), "output_norm": (hidden,)}
    for layer in range(layers):
        tensors |= {f"blk.{layer}.{name}": shape for name, shape in {
            "attn_norm": (hidden,), "ffn_norm": (hidden,), "attn_q_norm": (head_dim,), "attn_k_norm": (head_dim,),
            "attn_q": (heads * head_dim, hidden), "attn_k": (kv_heads * head_dim, hidden),
            "attn_v": (kv_heads * head_dim, hidden), "attn_output": (hidden, heads * head_dim),
            "ffn_gate_inp": (experts, hidden), "ffn_gate_exps": (experts, inner, hidden),
            "ffn_up_exps": (experts, inner, hidden), "ffn_down_exps": (experts, hidden, inner)}.items()}
    head, offset = b"", 0
    for name, shape in tensors.items():
        plain = len(shape) == 1 or name.endswith("ffn_gate_inp")
        elements = 1
        for size in shape:
            elements *= size
        head += text(name + ".weight") + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += struct.pack("<IQ", F32 if plain else Q8_0, offset)
        offset += elements * 4 if plain else elements // 32 * 34
        offset += -offset % ALIGNMENT
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata)) + b"".join(
        entry(key, value) for key, value in metadata.items()) + head
    path.write_bytes(head)
    with path.open("r+b") as file:
        file.truncate(len(head) + -len(head) % ALIGNMENT + offset)
