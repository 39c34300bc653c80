#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures llama.cpp on given tokens, as `colibri bench` measures Colibri.

    llamacpp.py FILE IDS THREADS PROMPT,... GENERATE

Prints one JSON object: seconds of loading the file, and for flash attention off and on the seconds of a new context with a
prompt of FIRST tokens, of each prompt, and of the tokens behind it."""

import ctypes
import json
import sys
import time
from pathlib import Path

import llama_cpp
import numpy as np

FIRST = 16      # tokens of the first prompt
UBATCH = 512    # tokens of one pass: llama.cpp's own default
lib = llama_cpp.llama_cpp


def version() -> str:
    base = ctypes.CDLL(str(Path(llama_cpp.__file__).parent / "lib" / "libggml-base.so"))
    base.ggml_commit.restype = ctypes.c_char_p
    return (f"llama-cpp-python {llama_cpp.__version__}, llama.cpp commit {base.ggml_commit().decode()}, "
            + lib.llama_print_system_info().decode().strip(" |"))


class Llama:
    def __init__(self, path: str, mmap: bool = False):
        self._log = lib.llama_log_callback(lambda level, text, data: None)
        lib.llama_log_set(self._log, None)
        lib.llama_backend_init()
        parameters = lib.llama_model_default_params()
        parameters.n_gpu_layers = 0
        parameters.load_mode = llama_cpp.LLAMA_LOAD_MODE_MMAP if mmap else llama_cpp.LLAMA_LOAD_MODE_NONE
        if mmap:
            parameters.use_extra_bufts = False  # they would copy the weights out of the file
        self.model = lib.llama_model_load_from_file(path.encode(), parameters)
        if not self.model:
            raise RuntimeError(f"llama.cpp does not load {path}")
        self.vocabulary = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.model))
        self.context = None

    def open(self, tokens: int, threads: int, flash_attention: bool) -> None:
        """A context whose keys and values are f16."""
        settings = lib.llama_context_default_params()
        settings.n_ctx = tokens
        settings.n_batch = settings.n_ubatch = min(UBATCH, tokens)
        settings.n_threads = settings.n_threads_batch = threads
        settings.flash_attn_type = int(flash_attention)
        self.context = lib.llama_init_from_model(self.model, settings)
        if not self.context:
            raise RuntimeError("llama.cpp makes no context")

    def close(self) -> None:
        lib.llama_free(self.context)

    def free(self) -> None:
        """Of a model without a context."""
        lib.llama_model_free(self.model)

    def clear(self) -> None:
        lib.llama_memory_clear(lib.llama_get_memory(self.context), True)

    def forward(self, ids: list[int]) -> np.ndarray:
        """The logits of the last id; the array is the next call's, too."""
        for begin in range(0, len(ids), UBATCH):
            part = ids[begin:begin + UBATCH]
            tokens = (lib.llama_token * len(part))(*part)  # the batch only points to them
            batch = lib.llama_batch_get_one(tokens, len(part))
            if code := lib.llama_decode(self.context, batch):
                raise RuntimeError(f"llama_decode: {code}")
        return np.ctypeslib.as_array(lib.llama_get_logits_ith(self.context, -1), (self.vocabulary,))


def measure(llama: Llama, ids: list[int], prompts: list[int], generate: int) -> dict:
    """Of an open context. The choice of a token is part of its time."""
    made: dict = {"prompts": []}
    for prompt in prompts:
        llama.clear()
        start = time.perf_counter()
        llama.forward(ids[:prompt])
        prefill = time.perf_counter() - start
        start = time.perf_counter()
        for i in ids[prompt:prompt + generate]:
            llama.forward([i]).argmax()
        decode = time.perf_counter() - start
        made["prompts"].append({"prompt_tokens": prompt, "prefill": prefill, "decode": decode})
    return made


def main() -> None:
    file, ids_file, threads, lengths, generate = sys.argv[1:]
    ids = [int(word) for word in Path(ids_file).read_text(encoding="utf-8").split()]
    prompts = [int(length) for length in lengths.split(",")]
    start = time.perf_counter()
    llama = Llama(file)
    made: dict = {"version": version(), "load": time.perf_counter() - start, "flash_attention": {}}
    for flash_attention in (False, True):
        start = time.perf_counter()
        llama.open(max(prompts) + int(generate), int(threads), flash_attention)
        llama.forward(ids[:FIRST])
        first = time.perf_counter() - start
        made["flash_attention"][str(flash_attention).lower()] = {
            "first": first, **measure(llama, ids, prompts, int(generate))}
        llama.close()
    print(json.dumps(made))


if __name__ == "__main__":
    main()
