#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a GGUF file of a real model's shape with made-up weights.

    synthetic_gguf.py SHAPE TYPE FILE [--layers N]

Weights are normal, of the width that keeps activations of order one, quantised by ggml itself. Quantising gigabytes would
take long: a few thousand rows of each length are quantised, and the rows of every matrix are made of halves of them.
One tensor is in memory at a time."""

import argparse
import ctypes
import dataclasses
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
from gguf import GGMLQuantizationType

from shapes import SHAPES, TYPES, Shape

POOL_ROWS = 4099  # a prime: nothing repeats itself with the period of heads or experts
TOKENS = 8192     # the longest sequence the model says it was made for
# The router's weights are this much larger than the others: as in trained models, few experts get most of the weight.
ROUTER_WIDTH = 3.0

_BASE = ctypes.CDLL(str(Path(llama_cpp.__file__).parent / "lib" / "libggml-base.so"))
_BASE.ggml_quantize_chunk.restype = ctypes.c_size_t
_BASE.ggml_quantize_chunk.argtypes = ([ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
                                      + [ctypes.c_int64] * 3 + [ctypes.c_void_p])


class Rows:
    """Quantised rows, as many as are asked for."""

    def __init__(self, kind: GGMLQuantizationType, seed: int):
        self.kind, self.random, self.pools = kind, np.random.default_rng(seed), {}

    def _pool(self, columns: int) -> np.ndarray:
        if columns not in self.pools:
            elements, size = gguf.GGML_QUANT_SIZES[self.kind]
            rows = self.random.standard_normal((POOL_ROWS, columns), np.float32) / np.float32(columns ** 0.5)
            pool = np.zeros((POOL_ROWS, columns // elements * size), np.uint8)
            _BASE.ggml_quantize_chunk(int(self.kind), rows.ctypes.data, pool.ctypes.data, 0, POOL_ROWS, columns, None)
            self.pools[columns] = pool
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


def write(shape: Shape, codec: str, path: Path, seed: int = 1) -> None:
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
    for of in quantised.values():
        writer.write_tensor_data(rows.take(of))
    for of in floats.values():
        data = np.ones(of, np.float32)
        if len(of) == 2:  # a router
            data = random.standard_normal(of, np.float32) * np.float32(ROUTER_WIDTH / of[-1] ** 0.5)
        writer.write_tensor_data(data)
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("type", choices=TYPES)
    parser.add_argument("file", type=Path)
    parser.add_argument("--layers", type=int, help="layers, if not those of the shape")
    options = parser.parse_args()
    shape = SHAPES[options.shape]
    write(dataclasses.replace(shape, layers=options.layers or shape.layers), options.type, options.file)


if __name__ == "__main__":
    main()
