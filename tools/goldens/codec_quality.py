#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each codec costs: the demo model's logits on its test logs with all matrices in the codec,
against those in f32, by Colibri and by llama.cpp on the same file.

Usage: codec_quality.py [--logs N] [--build FOLDER] [CODEC ...]   (requirements.txt, requirements-gguf.txt)
from the top of the source tree, after `cmake --build --preset release`. Prints a table: KL divergence from
f32 (nats, mean over all positions of prompt and answer) and the share of positions whose largest logit
is the same. Exit 1 if a codec's KL divergence is more than 5 % above llama.cpp's: that much is chance.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
from safetensors import safe_open
from tokenizers import Tokenizer

import ggml
import gguf_convert

DEMO = Path("models/demo")
LOGS = Path("tests/golden/demo/test_logs.jsonl")
CODECS = ("F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K",
          "IQ4_NL", "IQ4_XS", "MXFP4")
CHANCE = 1.05


def sequences(count: int) -> list[list[int]]:
    tokenizer = Tokenizer.from_file(str(DEMO / "tokenizer.json"))
    with open(LOGS, encoding="utf-8") as lines:
        logs = [json.loads(line) for line in lines][:count]
    texts = [f"<|{x['lang']}|>\n{x['log']}\n<|summary|>{x['answer']}<|end|>" for x in logs]
    return [tokenizer.encode(text).ids for text in texts]


def write_model(path: Path, codec: str) -> None:
    settings = json.loads((DEMO / "config.json").read_text())
    with safe_open(DEMO / "model.safetensors", "pt") as file:
        weights = {name: file.get_tensor(name).float().numpy() for name in file.keys()}
    stored = {}
    for name, array in gguf_convert.tensors(settings, weights).items():
        is_matrix = array.ndim > 1 and "ffn_gate_inp" not in name
        kind = gguf.GGMLQuantizationType[codec if is_matrix else "F32"]
        array = np.ascontiguousarray(array)
        stored[name] = (kind, array if codec == "F32" or not is_matrix else ggml.quantise(kind, array))
    ggml.write(path, "llama", gguf_convert.metadata(settings), stored)


def colibri_logits(program: Path, model: Path, ids: list[list[int]], folder: Path) -> np.ndarray:
    (folder / "ids").write_text("".join(" ".join(map(str, line)) + "\n" for line in ids))
    subprocess.run([program, model, folder / "ids", folder / "logits", "context.kv=f32"],
                   check=True)
    return np.fromfile(folder / "logits", np.float32).reshape(sum(map(len, ids)), -1)


def llama_logits(model: Path, ids: list[list[int]]) -> np.ndarray:
    llama = ggml.Llama(model, max(map(len, ids)))
    logits = np.concatenate([llama.logits(line) for line in ids])
    llama.close()
    return logits


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def compare(right: np.ndarray, logits: np.ndarray) -> tuple[float, float]:
    """KL divergence and top-1 agreement."""
    p, q = log_softmax(right), log_softmax(logits)
    return float((np.exp(p) * (p - q)).sum(axis=1).mean()), float((p.argmax(1) == q.argmax(1)).mean())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--logs", type=int, default=40)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("codecs", nargs="*", default=CODECS, metavar="CODEC")
    args = parser.parse_args()
    program = args.build / "tests" / "demo" / "colibri_write_logits"
    ids = sequences(args.logs)
    worse = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "model.gguf"
        write_model(model, "F32")
        right = colibri_logits(program, model, ids, folder)
        print(f"{len(right)} positions of {len(ids)} logs\n\n"
              "| codec | KL divergence | llama.cpp's | top-1 agreement | llama.cpp's |\n|---|---|---|---|---|")
        for codec in args.codecs:
            write_model(model, codec)
            kl, same = compare(right, colibri_logits(program, model, ids, folder))
            llama_kl, llama_same = compare(right, llama_logits(model, ids))
            print(f"| {codec.lower().replace('_k', '_K')} | {kl:.2e} | {llama_kl:.2e} | {same:.4f} | {llama_same:.4f} |",
                  flush=True)
            if kl > CHANCE * llama_kl:
                worse.append(codec)
    if worse:
        print(f"worse than llama.cpp: {', '.join(worse)}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
