#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blocks of every GGUF codec and the numbers that gguf-py decodes them to: tests/golden/codecs.

Each NAME.bin holds BLOCKS blocks, then their f32 numbers, little-endian. Half of the blocks are
random bytes with finite scales, half are random numbers quantised by ggml, one of them all zeros.

Each quantised/NAME.bin holds QUANTISED times 32 f32 numbers of many sizes, then the blocks that
gguf-py quantises them to.

    python tools/goldens/make_codec_values.py      (see requirements-gguf.txt)
"""
import pathlib

import gguf
import numpy as np

import ggml

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/codecs"
BLOCKS = 8
QUANTISED = 48
# Codec: where the f16 scales of a block stand.
SCALES = {
    "Q4_0": [0], "Q8_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": [],
}


def awkward_numbers(random: np.random.Generator) -> np.ndarray:
    """[QUANTISED, 32], from the smallest scales of f16 to its largest, of one sign, equal, few."""
    sizes = 10.0 ** random.uniform(-7, 4, (QUANTISED, 1))
    numbers = random.normal(0, 1, (QUANTISED, 32)) * sizes
    numbers[::6] = np.abs(numbers[::6])
    numbers[1::6] = -np.abs(numbers[1::6])
    numbers[2::12] = numbers[2::12, :1]
    numbers[5::12, 1:] = 0
    numbers[0] = 0
    return numbers.astype(np.float32)


def write_quantised():
    folder = FOLDER / "quantised"
    folder.mkdir(exist_ok=True)
    for seed, name in enumerate(("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1")):
        numbers = awkward_numbers(np.random.default_rng(100 + seed))
        blocks = gguf.quants.quantize(numbers, gguf.GGMLQuantizationType[name])
        (folder / f"{name.lower()}.bin").write_bytes(numbers.tobytes() + blocks.tobytes())


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed, (name, scales) in enumerate(SCALES.items()):
        random = np.random.default_rng(seed)
        kind = gguf.GGMLQuantizationType[name]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (BLOCKS // 2, size), dtype=np.uint8)
        for at in scales:
            numbers = random.uniform(-1, 1, BLOCKS // 2).astype(np.float16)
            blocks[:, at:at + 2] = numbers.view(np.uint8).reshape(-1, 2)
        if name == "MXFP4":
            blocks[:, 0] = [0, 1, 126, 250]
        numbers = random.normal(0, 0.05, (BLOCKS // 2, elements)).astype(np.float32)
        numbers[0] = 0
        blocks = np.concatenate([blocks, ggml.quantise(kind, numbers)])
        values = ggml.values(kind, blocks)
        assert np.isfinite(values).all()
        (FOLDER / f"{name.lower().replace('_k', '_K')}.bin").write_bytes(blocks.tobytes() + values.tobytes())
    write_quantised()


if __name__ == "__main__":
    main()
