# SPDX-License-Identifier: Apache-2.0
"""Exact-match accuracy of an exported folder on a test set, by transformers' greedy generation.

    python evaluate.py FOLDER TEST_LOGS.jsonl [--weights bf16|q8_0|q4_0] [--count N] [--show]

Arithmetic is float32. With q4_0 the matrices of experts and attention are rounded to q4_0 and the
embedding, which is the head too, to q8_0; with q8_0 all of them to q8_0. Activations stay float32.
"""

import argparse
import json
from pathlib import Path

import torch
from transformers import AutoTokenizer, MixtralForCausalLM

from log_generator import Example
from model import fake_q4_0, fake_q8_0

BATCH = 20


def load(folder: Path) -> tuple[MixtralForCausalLM, AutoTokenizer]:
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = MixtralForCausalLM.from_pretrained(folder, dtype=torch.float32,
                                               attn_implementation="eager").eval()
    return model, tokenizer


@torch.no_grad()
def round_weights(model: MixtralForCausalLM, codec: str) -> None:
    for name, weight in model.named_parameters():
        if "experts" in name or "self_attn" in name:
            weight.copy_((fake_q4_0 if codec == "q4_0" else fake_q8_0)(weight))
        elif "embed_tokens" in name:
            weight.copy_(fake_q8_0(weight))


@torch.no_grad()
def greedy_answers(model, tokenizer, prompts: list[str]) -> list[str]:
    inputs = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    out = model.generate(**inputs, max_new_tokens=64, do_sample=False)
    return tokenizer.batch_decode(out[:, inputs["input_ids"].shape[1]:], skip_special_tokens=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("test_set", type=Path)
    parser.add_argument("--weights", choices=("bf16", "q8_0", "q4_0"), default="bf16")
    parser.add_argument("--count", type=int)
    parser.add_argument("--show", action="store_true", help="print the wrong answers")
    args = parser.parse_args()
    torch.set_num_threads(2)
    model, tokenizer = load(args.folder)
    if args.weights != "bf16":
        round_weights(model, args.weights)
    with open(args.test_set, encoding="utf-8") as lines:
        examples = [Example(**json.loads(line)) for line in lines][: args.count]
    examples.sort(key=lambda e: len(e.log))
    right = dict.fromkeys(("en", "zh"), 0)
    total = dict.fromkeys(("en", "zh"), 0)
    for i in range(0, len(examples), BATCH):
        group = examples[i : i + BATCH]
        for example, got in zip(group, greedy_answers(model, tokenizer, [e.prompt for e in group])):
            right[example.lang] += got == example.answer
            total[example.lang] += 1
            if args.show and got != example.answer:
                print(f"want {example.answer}\n got {got}\n")
    for lang in total:
        print(f"{lang}: {right[lang]} of {total[lang]} exact")
    print(f"accuracy {args.weights} {100 * sum(right.values()) / sum(total.values()):.1f}")


if __name__ == "__main__":
    main()
