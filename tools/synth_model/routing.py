# SPDX-License-Identifier: Apache-2.0
"""Routing that is skewed and sticky, made by weights.

A router's logits are products of its rows with the state of a token. The state begins as the token's embedding:

    a direction that all tokens share + a direction that the tokens of a topic share + one of the token's own

A part of each router row along the first makes some experts popular (skew); the second makes tokens of one topic, which
follow each other, choose the same experts (stickiness). The embedding is wide enough that what the layers add to the state
leaves both to the end."""

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Iterator

import numpy as np

SKEW = 0.60    # of all choices, those of the most popular quarter of the experts
SHARED = 0.35  # of a token's experts, those that the token before had in the same layer
TOPICS = 64    # an id is of topic id % TOPICS
STAY = 0.98    # chance that the next id is of the same topic
PIECE = 8192   # rows of an embedding made at once


def popularity(experts: int) -> np.ndarray:
    """Quantiles of a normal distribution: the same for every seed, of width one."""
    made = np.array([NormalDist().inv_cdf((i + 0.5) / experts) for i in range(experts)])
    return (made / made.std()).astype(np.float32)


def chosen(logits: np.ndarray, top_k: int) -> np.ndarray:
    """[..., experts], true for the top_k."""
    mask = np.zeros(logits.shape, bool)
    np.put_along_axis(mask, np.argpartition(-logits, top_k - 1, axis=-1)[..., :top_k], True, axis=-1)
    return mask


def bisect(reaches, least: float, most: float) -> float:
    """The least value that reaches what it should."""
    for _ in range(16):
        middle = (least + most) / 2
        least, most = (least, middle) if reaches(middle) else (middle, most)
    return most


@dataclass(frozen=True)
class Routing:
    experts: int
    top_k: int
    layers: int
    seed: int = 1
    # Of the norm before attention: what attention adds is nearly the same for all tokens, and would add to the skew.
    attention_scale: float = 0.1

    @cached_property
    def bias(self) -> float:
        """Width of the experts' popularity, the rest of a logit having width 1."""
        logits = np.random.default_rng(0).standard_normal((4096, self.experts), np.float32)

        def reaches(bias: float) -> bool:
            counts = np.sort(chosen(logits + bias * popularity(self.experts), self.top_k).sum(0))
            return counts[-(self.experts // 4):].sum() >= SKEW * counts.sum()

        return bisect(reaches, 0.0, 4.0)

    @cached_property
    def topic(self) -> float:
        """Share of the topic in the variance of that rest; 0 where the skew alone makes tokens share enough."""
        random = np.random.default_rng(0)
        topic = random.standard_normal((64, 1, self.experts), np.float32)
        own = random.standard_normal((64, 64, self.experts), np.float32)

        def reaches(share: float) -> bool:
            logits = share ** 0.5 * topic + (1 - share) ** 0.5 * own + self.bias * popularity(self.experts)
            mask = chosen(logits, self.top_k)
            return (mask[:, 1:] & mask[:, :-1]).sum() >= SHARED * mask[:, 1:].sum()

        return 0.0 if reaches(0.0) else bisect(reaches, 0.0, 1.0)

    def _common(self, hidden: int) -> np.ndarray:
        return np.random.default_rng(self.seed).choice(np.array([-1, 1], np.float32), hidden)

    def embedding(self, vocabulary: int, hidden: int) -> Iterator[np.ndarray]:
        """Pieces of [vocabulary, hidden]."""
        random = np.random.default_rng(self.seed + 1)
        topics = random.standard_normal((TOPICS, hidden), np.float32)
        for begin in range(0, vocabulary, PIECE):
            ids = np.arange(begin, min(begin + PIECE, vocabulary))
            own = random.standard_normal((len(ids), hidden), np.float32)
            rows = (self._common(hidden) + np.float32(self.topic ** 0.5) * topics[ids % TOPICS]
                    + np.float32((1 - self.topic) ** 0.5) * own)
            yield np.float32(self.layers ** 0.5 / 2) * rows  # each layer adds about as much as the last

    def router(self, rows: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """rows: [experts, hidden], normal of length 1. What all tokens share becomes the experts' popularity."""
        hidden = rows.shape[1]
        common = self._common(hidden)
        wanted = self.bias * random.permutation(popularity(self.experts))
        return rows + np.outer(wanted - rows @ common, common / np.float32(hidden))


def ids(vocabulary: int, count: int, seed: int = 1) -> list[int]:
    """Ids that stay with a topic for a while."""
    random = np.random.default_rng(seed)
    made, topic = [], 0
    for _ in range(count):
        if random.random() >= STAY or not made:
            topic = int(random.integers(TOPICS))
        made.append(topic + TOPICS * int(random.integers((vocabulary - topic - 1) // TOPICS + 1)))
    return made
