# SPDX-License-Identifier: Apache-2.0
"""ggml's quantisation, GGUF files, and what llama.cpp computes for them."""

import ctypes
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
from gguf import quants

_BASE = ctypes.CDLL(str(Path(llama_cpp.__file__).parent / "lib" / "libggml-base.so"))
_BASE.ggml_quantize_chunk.restype = ctypes.c_size_t
_BASE.ggml_quantize_chunk.argtypes = ([ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
                                      + [ctypes.c_int64] * 3 + [ctypes.c_void_p])


def quantise(kind: gguf.GGMLQuantizationType, rows: np.ndarray) -> np.ndarray:
    """f32 [..., columns] as bytes [..., bytes of a row]."""
    if kind in (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.BF16):
        return quants.quantize(rows, kind).view(np.uint8)
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    flat = np.ascontiguousarray(rows, np.float32).reshape(-1, rows.shape[-1])
    to = np.zeros((len(flat), flat.shape[1] // elements * size), np.uint8)
    _BASE.ggml_quantize_chunk(int(kind), flat.ctypes.data, to.ctypes.data, 0, *flat.shape, None)
    return to.reshape(*rows.shape[:-1], -1)


def values(kind: gguf.GGMLQuantizationType, stored: np.ndarray) -> np.ndarray:
    """The f32 numbers that stored bytes stand for."""
    return quants.dequantize(stored, kind).astype(np.float32)


def write(path: Path, architecture: str, metadata: dict, stored: dict[str, tuple]) -> None:
    """stored: name -> (type, bytes)."""
    writer = gguf.GGUFWriter(path, architecture)
    add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
    for key, value in metadata.items():
        add[type(value)](key, value)
    writer.add_string("tokenizer.ggml.model", "none")
    for name, (kind, data) in stored.items():
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Llama:
    """llama.cpp on one thread."""

    def __init__(self, path: Path, tokens: int, cache: str = "F32"):
        lib = self.lib = llama_cpp.llama_cpp
        lib.llama_backend_init()
        said: list[str] = []
        self._log = lib.llama_log_callback(lambda level, text, data: said.append(text.decode()))
        lib.llama_log_set(self._log, None)
        parameters = lib.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self.model = lib.llama_model_load_from_file(str(path).encode(), parameters)
        if not self.model:
            raise RuntimeError(f"llama.cpp does not load {path}:\n{''.join(said[-4:])}")
        settings = lib.llama_context_default_params()
        settings.n_ctx = settings.n_batch = settings.n_ubatch = tokens
        settings.n_threads = settings.n_threads_batch = 1
        settings.type_k = settings.type_v = int(gguf.GGMLQuantizationType[cache])
        settings.flash_attn_type = 0
        self.context = lib.llama_init_from_model(self.model, settings)
        if not self.context:
            raise RuntimeError(f"llama.cpp makes no context for {path}")
        self.vocab = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.model))

    def logits(self, ids: list[int]) -> np.ndarray:
        """[len(ids), vocab] in one batch, from an empty cache."""
        lib = self.lib
        lib.llama_memory_clear(lib.llama_get_memory(self.context), True)
        batch = lib.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
            batch.seq_id[i][0] = 0
        code = lib.llama_decode(self.context, batch)
        lib.llama_batch_free(batch)
        if code != 0:
            raise RuntimeError(f"llama_decode: {code}")
        return np.stack([np.ctypeslib.as_array(lib.llama_get_logits_ith(self.context, i), (self.vocab,)).copy()
                         for i in range(len(ids))])

    def close(self) -> None:
        self.lib.llama_free(self.context)
        self.lib.llama_model_free(self.model)
