# SPDX-License-Identifier: Apache-2.0
"""GGUF files of real models' shapes with made-up weights.

Weights are normal, of the width that keeps activations of order one, quantised by ggml itself. Quantising gigabytes would
take long: a few thousand rows of each length are quantised, and the rows of every matrix are made of halves of them.
One tensor is in memory at a time."""

import ctypes
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
from gguf import GGMLQuantizationType

from routing import Routing
from shapes import Shape

POOL_ROWS = 4099  # a prime: nothing repeats itself with the period of heads or experts
TOKENS = 8192     # the longest sequence the model says it was made for
# The router's weights are this much larger than the others: as in trained models, few experts get most of the weight.
ROUTER_WIDTH = 3.0

_BASE = ctypes.CDLL(str(Path(llama_cpp.__file__).parent / "lib" / "libggml-base.so"))
_BASE.ggml_quantize_chunk.restype = ctypes.c_size_t
_BASE.ggml_quantize_chunk.argtypes = ([ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
                                      + [ctypes.c_int64] * 3 + [ctypes.c_void_p])


def quantise(kind: GGMLQuantizationType, rows: np.ndarray) -> np.ndarray:
    """rows: [n, columns], f32. The bytes of them, [n, bytes of a row]."""
    rows = np.ascontiguousarray(rows, np.float32)
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    made = np.zeros((len(rows), rows.shape[1] // elements * size), np.uint8)
    _BASE.ggml_quantize_chunk(int(kind), rows.ctypes.data, made.ctypes.data, 0, *rows.shape, None)
    return made


class Rows:
    """Quantised rows, as many as are asked for."""

    def __init__(self, kind: GGMLQuantizationType, seed: int):
        self.kind, self.random, self.pools = kind, np.random.default_rng(seed), {}

    def _pool(self, columns: int) -> np.ndarray:
        if columns not in self.pools:
            rows = self.random.standard_normal((POOL_ROWS, columns), np.float32) / np.float32(columns ** 0.5)
            self.pools[columns] = quantise(self.kind, rows)
        return self.pools[columns]

    def take(self, shape: tuple[int, ...]) -> np.ndarray:
        """The bytes of a tensor, [..., bytes of a row]. No two of its rows are the same: equal rows of a head would be ties."""
        pool = self._pool(shape[-1])
        blocks, size = shape[-1] // gguf.GGML_QUANT_SIZES[self.kind][0], gguf.GGML_QUANT_SIZES[self.kind][1]
        half = blocks // 2 * size
        row = int(self.random.integers(POOL_ROWS)) + np.arange(int(np.prod(shape[:-1])))
        made = np.empty((len(row), pool.shape[1]), np.uint8)
        made[:, :half] = pool[row % POOL_ROWS, :half]
        made[:, half:] = pool[(row + row // POOL_ROWS) % POOL_ROWS, half:]
        return made.reshape(*shape[:-1], -1)


def matrices(shape: Shape, layer: int) -> dict[str, tuple[int, ...]]:
    q, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    experts, inner, hidden = shape.experts, shape.inner, shape.hidden
    made = {"attn_q": (q, hidden), "attn_k": (kv, hidden), "attn_v": (kv, hidden), "attn_output": (hidden, q),
            "ffn_gate_exps": (experts, inner, hidden), "ffn_up_exps": (experts, inner, hidden),
            "ffn_down_exps": (experts, hidden, inner)}
    return {f"blk.{layer}.{name}.weight": size for name, size in made.items()}


def vectors(shape: Shape, layer: int) -> dict[str, int]:
    made = {"attn_norm": shape.hidden, "ffn_norm": shape.hidden}
    if shape.qk_norm == "head":
        made |= {"attn_q_norm": shape.head_dim, "attn_k_norm": shape.head_dim}
    if shape.qk_norm == "full":
        made |= {"attn_q_norm": shape.heads * shape.head_dim, "attn_k_norm": shape.kv_heads * shape.head_dim}
    return {f"blk.{layer}.{name}.weight": size for name, size in made.items()}


def write_metadata(writer: gguf.GGUFWriter, shape: Shape) -> None:
    writer.add_block_count(shape.layers)
    writer.add_context_length(TOKENS)
    writer.add_embedding_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_freq_base(shape.rope_theta)
    writer.add_layer_norm_rms_eps(shape.eps)
    writer.add_feed_forward_length(shape.inner)
    writer.add_expert_feed_forward_length(shape.inner)
    writer.add_expert_count(shape.experts)
    writer.add_expert_used_count(shape.top_k)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_tokenizer_model("none")


def float_weights(name: str, size: tuple[int, ...], random: np.random.Generator, routing: Routing | None) -> np.ndarray:
    """A router or the weights of a norm."""
    if len(size) == 2:
        router = random.standard_normal(size, np.float32) / np.float32(size[-1] ** 0.5)
        return np.float32(ROUTER_WIDTH) * (router if routing is None else routing.router(router, random))
    scale = 1.0 if routing is None or "attn_norm" not in name else routing.attention_scale
    return np.full(size, scale, np.float32)


def write(shape: Shape, codec: str, path: Path, seed: int = 1, routing: Routing | None = None) -> None:
    """routing: None = every token's experts are chosen evenly and independently."""
    kind = GGMLQuantizationType[codec.upper()]
    rows, random = Rows(kind, seed), np.random.default_rng(seed + 1)
    quantised = {"token_embd.weight": (shape.vocabulary, shape.hidden), "output.weight": (shape.vocabulary, shape.hidden)}
    floats = {"output_norm.weight": (shape.hidden,)}
    for layer in range(shape.layers):
        quantised |= matrices(shape, layer)
        floats |= {name: (size,) for name, size in vectors(shape, layer).items()}
        floats[f"blk.{layer}.ffn_gate_inp.weight"] = (shape.experts, shape.hidden)

    writer = gguf.GGUFWriter(path, shape.architecture)
    write_metadata(writer, shape)
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    for name, of in quantised.items():
        stored = (*of[:-1], of[-1] // elements * size)
        writer.add_tensor_info(name, stored, np.dtype(np.uint8), int(np.prod(stored)), raw_dtype=kind)
    for name, of in floats.items():
        writer.add_tensor_info(name, of, np.dtype(np.float32), int(np.prod(of)) * 4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for name, of in quantised.items():
        if routing is not None and name == "token_embd.weight":
            pieces = [quantise(kind, piece) for piece in routing.embedding(*of)]
            writer.write_tensor_data(np.concatenate(pieces))
        else:
            writer.write_tensor_data(rows.take(of))
    for name, of in floats.items():
        writer.write_tensor_data(float_weights(name, of, random, routing))
    writer.close()
