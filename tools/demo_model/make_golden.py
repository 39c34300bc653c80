# SPDX-License-Identifier: Apache-2.0
"""Writes what transformers computes for the exported model in float32, as a reference for tests.

    python make_golden.py FOLDER GOLDEN.json

For two prompts of each language: the ids, the logits of the last position (9 significant digits,
which is float32 exactly) and 64 greedy ids that do not stop at <|end|>. Behind <|end|> the model is
outside what it was trained for and its two best logits can be close, so prompts whose smallest
margin is below MIN_MARGIN are passed over: float32 sums in another order must not change the ids.
"""

import json
import sys
from pathlib import Path

import torch

from evaluate import load
from log_generator import LANGUAGES, TEST_SEED, make_example

PROMPTS_PER_LANGUAGE = 2
GREEDY_IDS = 64
MIN_MARGIN = 0.01
MAX_LINES = 12


@torch.no_grad()
def greedy(model, ids: list[int]) -> tuple[torch.Tensor, list[int], float]:
    """(logits behind the prompt, greedy ids, smallest margin of the best over the second)."""
    out = model(torch.tensor([ids]), use_cache=True)
    first = logits = out.logits[0, -1]
    chosen, margin = [], float("inf")
    while True:
        best, second = logits.topk(2).values.tolist()
        margin = min(margin, best - second)
        chosen.append(logits.argmax().item())
        if len(chosen) == GREEDY_IDS:
            return first, chosen, margin
        out = model(torch.tensor([chosen[-1:]]), past_key_values=out.past_key_values)
        logits = out.logits[0, -1]


def main(folder: Path, path: Path) -> None:
    torch.set_num_threads(1)
    model, tokenizer = load(folder)
    cases = {lang: [] for lang in LANGUAGES}
    seed = TEST_SEED
    while any(len(c) < PROMPTS_PER_LANGUAGE for c in cases.values()):
        example = make_example(seed, max_lines=MAX_LINES)
        seed += 1
        ids = tokenizer(example.prompt)["input_ids"]
        logits, chosen, margin = greedy(model, ids)
        if margin < MIN_MARGIN or len(cases[example.lang]) == PROMPTS_PER_LANGUAGE:
            continue
        cases[example.lang].append({
            "lang": example.lang, "prompt": example.prompt, "prompt_ids": ids,
            "last_logits": [float(f"{x:.9g}") for x in logits.tolist()], "greedy_ids": chosen})
    golden = {"weights": "as stored (bf16)", "arithmetic": "float32",
              "cases": [case for group in cases.values() for case in group]}
    path.write_text(json.dumps(golden, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
