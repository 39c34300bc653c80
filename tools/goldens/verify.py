# SPDX-License-Identifier: Apache-2.0
"""Checks the committed goldens against the libraries they came from. Exit status 1 on a difference.

Checkpoints: the folder loads, logits agree within 4e-6 of the largest |logit|, greedy ids are those
of a full pass without cache and of generate() with its cache.
Tokenizers: every case gives the same ids and texts again.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

import make_tokenizer_cases
import reference

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
TOLERANCE = 4e-6  # a pass over another length rounds differently


def check_model(folder: Path) -> list[str]:
    stored = json.loads((folder / "reference.json").read_text())
    model = reference.load(folder)
    if model.generation_config is not None:
        model.generation_config.eos_token_id = None
    problems = []
    for case in stored["cases"]:
        prompt, greedy = case["prompt"], case["greedy"]
        logits = reference.logits_of(model, prompt + greedy)
        for key in ("logits", "final_logits"):
            want = reference.unpack(case[key])
            got = logits[case[key]["first_position"]:][:len(want)]
            if np.abs(got - want).max() > TOLERANCE * np.abs(want).max():
                problems.append(f"{case['name']}: {key} differ")
        # The logits before each greedy id, from one pass over everything.
        if logits[len(prompt) - 1:-1].argmax(-1).tolist() != greedy:
            problems.append(f"{case['name']}: greedy ids differ")
        if not hasattr(model, "generate"):  # the invented one
            continue
        with torch.inference_mode():
            ids = torch.tensor([prompt])
            cached = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False,
                                    max_new_tokens=len(greedy), pad_token_id=0)
        if cached[0, len(prompt):].tolist() != greedy:
            problems.append(f"{case['name']}: greedy ids with a cache differ")
    return problems


def check_tokenizer(folder: Path) -> list[str]:
    want = (folder / "cases.jsonl").read_text().splitlines()
    got = make_tokenizer_cases.lines(folder)
    if len(want) != len(got):
        return [f"{len(want)} cases stored, {len(got)} made"]
    return [f"line {n} differs" for n, pair in enumerate(zip(want, got), 1) if pair[0] != pair[1]]


def main() -> int:
    failed = 0
    for kind, file, check in (("models", "reference.json", check_model),
                              ("tokenizers", "tokenizer.json", check_tokenizer)):
        for folder in sorted((GOLDEN / kind).iterdir()):
            if not (folder / file).exists():
                continue
            problems = check(folder)
            failed += bool(problems)
            print(f"{kind}/{folder.name}: {'; '.join(problems) or 'ok'}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
