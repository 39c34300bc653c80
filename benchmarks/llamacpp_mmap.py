#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures llama.cpp with mmap on given tokens, twice in one process: compare_streaming.py runs it.

    llamacpp_mmap.py FILE IDS THREADS PROMPT GENERATE

Prints one JSON object: the version, and for each of two rounds the seconds of the prompt (in the first one those of opening
the file, too) and of the tokens behind it, and the bytes read from the disk."""

import json
import sys
import time
from pathlib import Path

from llamacpp import Llama, version


def bytes_read() -> int:
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text(encoding="ascii").splitlines())
    return int(fields["read_bytes"])


def main() -> None:
    file, ids_file, threads, prompt, generate = sys.argv[1:]
    ids = [int(word) for word in Path(ids_file).read_text(encoding="ascii").split()]
    prompt, generate = int(prompt), int(generate)
    rounds = []
    start, before = time.perf_counter(), bytes_read()
    llama = Llama(file, mmap=True)
    llama.open(prompt + generate, int(threads), flash_attention=True)
    for _ in range(2):
        llama.clear()
        llama.forward(ids[:prompt])
        prefilled, read = time.perf_counter(), bytes_read()
        for i in ids[prompt:prompt + generate]:
            llama.forward([i])
        end, after = time.perf_counter(), bytes_read()
        rounds.append({"prefill": prefilled - start, "decode": end - prefilled,
                       "prefill_bytes": read - before, "decode_bytes": after - read})
        start, before = end, after
    print(json.dumps({"version": version(), "rounds": rounds}))


if __name__ == "__main__":
    main()
