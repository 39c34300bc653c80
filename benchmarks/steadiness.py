#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How evenly colibri decodes, what it leaves to others, and what it takes while it has nothing to do.

    benchmarks/steadiness.py MODEL [--colibri build/release/bin/colibri] [--tokens 1000] [--threads N]

prints

    steadiness cpu_p99_over_p50 <of the CPU time of a token> loop <of a fixed loop's between the tokens>
    steadiness wall_p99_over_p50 <of its time> loop <of the loop's>
    steadiness waiting <percent of the threads' time in which they wait for each other>
    steadiness idle_cpu <CPU seconds a second between requests>
    steadiness side_by_side <tokens per second of two processes together over those of one alone>

Every token stands behind the same number of others: the sequence begins anew for each, so a longer context does not make
later ones slower. The loop compares memory with memory on as many threads for about as long as a token takes: what
the machine and its neighbours do to a token they do to the loop. MODEL is a pipeline, a folder or a file; its model should be
larger than the processor's caches."""

import argparse
import ctypes
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

CONTEXT = 16  # tokens before each token that is timed
LOOP_BYTES = 256 << 20


class Error(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("code", ctypes.c_int32), ("text", ctypes.c_char * 512)]


class ModelParams(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("set", ctypes.POINTER(ctypes.c_char_p)), ("set_count", ctypes.c_uint32)]


class Model:
    """A model with one context, through the C interface."""

    def __init__(self, colibri: Path, path: str, threads: int) -> None:
        self.library = ctypes.CDLL(str(colibri.resolve().parent.parent / "lib/libcolibri.so"))
        self.error = Error(struct_size=ctypes.sizeof(Error))
        settings = (ctypes.c_char_p * 2)(f"threads.count={threads}".encode(), b"context.max_tokens=64")
        params = ModelParams(ctypes.sizeof(ModelParams), settings, 2)
        model, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.colibri_load_model(path.encode(), ctypes.byref(params), ctypes.byref(model),
                                                   ctypes.byref(self.error)))
        self.check(self.library.colibri_init_context(model, 0, ctypes.byref(self.context), ctypes.byref(self.error)))
        self.library.colibri_vocabulary.restype = ctypes.c_uint32
        self.vocabulary = self.library.colibri_vocabulary(model)
        self.logits = (ctypes.c_float * self.vocabulary)()

    def check(self, status: int) -> None:
        if status != 0:
            sys.exit(self.error.text.decode())

    def begin(self, ids: list[int]) -> None:
        given = (ctypes.c_int32 * len(ids))(*ids)
        self.check(self.library.colibri_run_inference(self.context, given, ctypes.c_size_t(len(ids)), self.logits, None,
                                                      ctypes.byref(self.error)))

    def token(self, number: int) -> tuple[float, float]:
        """Seconds, and seconds of the process on processors, of one token behind what begin() computed."""
        given = (ctypes.c_int32 * 1)(number)
        cpu, wall = time.process_time(), time.perf_counter()
        status = self.library.colibri_forward(self.context, given, ctypes.c_size_t(1), self.logits, None,
                                              ctypes.byref(self.error))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        self.check(status)
        return wall, cpu


class Loop:
    """The same work again and again: each thread compares its part of two blocks of memory."""

    def __init__(self, threads: int) -> None:
        self.memcmp = ctypes.CDLL(None).memcmp
        self.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        self.blocks = [(ctypes.c_char * LOOP_BYTES)() for _ in range(2)]
        for block in self.blocks:
            ctypes.memset(block, 1, LOOP_BYTES)
        self.part, self.bytes = LOOP_BYTES // threads, LOOP_BYTES // threads
        self.start, self.done = threading.Barrier(threads + 1), threading.Barrier(threads + 1)
        for i in range(threads):
            threading.Thread(target=self.work, args=(i,), daemon=True).start()

    def work(self, i: int) -> None:
        first, second = (ctypes.addressof(block) + i * self.part for block in self.blocks)
        while True:
            self.start.wait()
            self.memcmp(first, second, self.bytes)
            self.done.wait()

    def run(self) -> tuple[float, float]:
        cpu, wall = time.process_time(), time.perf_counter()
        self.start.wait()
        self.done.wait()
        return time.perf_counter() - wall, time.process_time() - cpu

    def last_about(self, seconds: float) -> None:
        all_bytes = min(self.run()[0] for _ in range(3))
        self.bytes = max(1, min(self.part, int(self.part * seconds / all_bytes)))


def percentile(values: list[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def spread(values: list[float]) -> float:
    return percentile(values, 99) / percentile(values, 50)


def bench(arguments: argparse.Namespace, *more: str) -> subprocess.Popen:
    return subprocess.Popen([arguments.colibri, "bench", arguments.model, "--json", "-t", str(arguments.threads),
                             "-p", str(CONTEXT), *more], stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen) -> dict:
    out = process.communicate()[0]
    if process.returncode != 0:
        sys.exit(f"colibri bench failed with exit {process.returncode}")
    return json.loads(out)["tests"][0]["decode"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--colibri", default="build/release/bin/colibri", type=Path)
    parser.add_argument("--tokens", default=1000, type=int)
    parser.add_argument("--threads", default=2, type=int)
    arguments = parser.parse_args()

    model, loop = Model(arguments.colibri, arguments.model, arguments.threads), Loop(arguments.threads)
    prompt = [(1 + 37 * i) % model.vocabulary for i in range(CONTEXT)]
    tokens, loops = [], []
    for i in range(-10, arguments.tokens):
        model.begin(prompt)
        took = model.token((7919 * (i + 11)) % model.vocabulary)
        if i == -1:
            loop.last_about(took[0])
        if i >= 0:
            tokens.append(took)
            loops.append(loop.run())
    for place, what in ((1, "cpu"), (0, "wall")):
        of_tokens, of_loops = ([each[place] for each in times] for times in (tokens, loops))
        print(f"steadiness {what}_p99_over_p50 {spread(of_tokens):.3f} loop {spread(of_loops):.3f}")

    time.sleep(0.5)
    cpu, began = time.process_time(), time.perf_counter()
    time.sleep(2)
    print(f"steadiness idle_cpu {(time.process_time() - cpu) / (time.perf_counter() - began):.5f}")
    del model, loop

    few = str(max(1, arguments.tokens // 10))
    parts = result(bench(arguments, "-n", few, "-r", "3", "--breakdown"))["breakdown"]
    print(f"steadiness waiting {100 * parts['waiting_thread_seconds'] / (parts['threads'] * parts['seconds']):.1f}")

    alone = result(bench(arguments, "-n", few, "-r", "5"))["tokens_per_second"]["median"]
    pair = [bench(arguments, "-n", few, "-r", "5") for _ in range(2)]
    together = sum(result(each)["tokens_per_second"]["median"] for each in pair)
    print(f"steadiness side_by_side {together / alone:.2f}")


if __name__ == "__main__":
    main()
