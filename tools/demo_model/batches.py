# SPDX-License-Identifier: Apache-2.0
"""Turns examples into padded batches of similar length."""

import dataclasses
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from log_generator import MIN_LINES, Example, make_example

POOL = 512  # examples sorted by length together
SHORT_LINES = 6


@dataclass
class Batch:
    ids: Tensor      # [B, T] int64, padded at the right with <|end|>
    select: Tensor   # [B, S] positions whose next token is predicted
    targets: Tensor  # [B, S] those next tokens
    weights: Tensor  # [B, S] 1 on the answer, the LM weight on the log, 0 on padding


class Encoder:
    def __init__(self, folder: Path):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.end = self.tokenizer.token_to_id("<|end|>")

    def encode(self, example: Example) -> tuple[list[int], int]:
        """(ids of prompt, answer and <|end|>, length of the prompt)."""
        prompt, answer = self.tokenizer.encode_batch([example.prompt, example.answer])
        return [*prompt.ids, *answer.ids, self.end], len(prompt.ids)


def make_batch(encoded: list[tuple[list[int], int]], end: int, rng: random.Random | None = None,
               log_positions: int = 0, log_weight: float = 0.0) -> Batch:
    length = max(len(ids) for ids, _ in encoded)
    chosen = []
    for ids, prompt in encoded:
        log = rng.sample(range(prompt - 1), min(log_positions, prompt - 1)) if log_positions else []
        chosen.append((log, list(range(prompt - 1, len(ids) - 1))))
    width = max(len(log) + len(answer) for log, answer in chosen)
    batch = Batch(torch.full((len(encoded), length), end), *(
        torch.zeros(len(encoded), width, dtype=t) for t in (torch.long, torch.long, torch.float)))
    for row, ((ids, _), (log, answer)) in enumerate(zip(encoded, chosen)):
        here = torch.tensor(log + answer)
        all_ids = torch.tensor(ids)
        batch.ids[row, : len(ids)] = all_ids
        batch.select[row, : len(here)] = here
        batch.targets[row, : len(here)] = all_ids[here + 1]
        batch.weights[row, : len(log)] = log_weight
        batch.weights[row, len(log) : len(here)] = 1
    return batch


def by_length(encoded: list, token_budget: int) -> Iterator[list]:
    """Groups of similar length with at most `token_budget` tokens, padding included."""
    group: list = []
    for item in sorted(encoded, key=lambda e: len(e[0])):
        if group and (len(group) + 1) * len(item[0]) > token_budget:
            yield group
            group = []
        group.append(item)
    yield group


def training_batches(encoder: Encoder, seed: int, token_budget: int, max_lines: int,
                     log_positions: int, log_weight: float) -> Iterator[Batch]:
    """The batches of one pool, the examples of seeds [seed, seed + POOL), in random order."""
    rng = random.Random(seed)
    examples = []
    for s in range(seed, seed + POOL):
        # Every other log is short: it teaches the words of the faults at a third of the price.
        most = max_lines if s // 2 % 2 else SHORT_LINES
        least = MIN_LINES if most > SHORT_LINES else 1
        examples.append(make_example(s, least, most))
    for i in range(0, POOL, 7):  # a log read from a file ends with a newline of its own
        examples[i] = dataclasses.replace(examples[i], log=examples[i].log + "\n")
    groups = list(by_length([encoder.encode(e) for e in examples], token_budget))
    rng.shuffle(groups)
    for group in groups:
        yield make_batch(group, encoder.end, rng, log_positions, log_weight)
