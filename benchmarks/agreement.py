#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether two programs compute the same model, judged by their logits at the same places.

    agreement.py      checks itself

Two right programs differ: they quantise activations in another way, and sum in another order. How much, one place shows by
itself, by the difference over all the vocabulary. What they choose may differ where that noise can swap the two ids, not
where both are sure of what they say; and the noise must be small beside the logits, or it would excuse anything."""

import math
import random
from dataclasses import dataclass
from statistics import median
from typing import Sequence

SURE = 3.0  # widths of the noise by which both must prefer their own id for a difference to be an error
# The most noise in widths of the logits, in the median of all places and at a single one. Seen of OLMoE, Qwen3-30B-A3B and
# Mixtral of 2 to 16 layers in q4_0, q8_0 and q4_K, 25 to 129 places each behind up to 4,096 tokens: medians from 0.020 to
# 0.062, at most 0.23, and once 0.43 (Mixtral: where another of two experts is chosen, half of a layer's work is another). Of
# a Qwen3 of 4 layers one of whose two programs was made wrong, medians: a rotary base of 0.8 times the right one 0.20, of
# 0.01 times 0.72, an epsilon of 0.01 in the norms 0.81. Logits that have nothing to do with each other: 1.41.
MOST_NOISE_MEDIAN = 0.12
MOST_NOISE = 1.0


@dataclass(frozen=True)
class Place:
    noise: float   # width of the difference over that of the logits; nan where a logit is no finite number
    differ: bool   # in the id of the greatest logit
    error: bool


def width(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum([(value - mean) ** 2 for value in values]) / len(values))


def place(ours: Sequence[float], theirs: Sequence[float]) -> Place:
    """ours, theirs: [vocabulary], the logits of one place."""
    width_of_difference = width([mine - other for mine, other in zip(ours, theirs, strict=True)])
    noise = width_of_difference / width(theirs)
    my_id, other_id = ours.index(max(ours)), theirs.index(max(theirs))
    sure = min(ours[my_id] - ours[other_id], theirs[other_id] - theirs[my_id]) > SURE * width_of_difference
    return Place(noise, my_id != other_id, sure or not noise <= MOST_NOISE)


def agree(places: Sequence[Place]) -> bool:
    return not any(made.error for made in places) and median(made.noise for made in places) <= MOST_NOISE_MEDIAN


def check_itself() -> None:
    chance = random.Random(1)
    theirs = [chance.gauss(0, 1) for _ in range(5000)]
    first, second = 7, 8
    theirs[first], theirs[second] = 6.0, 5.98

    def noisy(width_of_noise: float, **swap: float) -> list[float]:
        made = [value + chance.gauss(0, width_of_noise) for value in theirs]
        for name, value in swap.items():
            made[{"first": first, "second": second}[name]] = value
        return made

    agreed = place(noisy(0.02, first=6.01, second=5.97), theirs)
    assert not agreed.differ and not agreed.error and 0.015 < agreed.noise < 0.025, agreed
    tie = place(noisy(0.02, first=5.98, second=6.0), theirs)
    assert tie.differ and not tie.error, tie
    one_is_unsure = place(noisy(0.02, first=5.0, second=6.0), theirs)
    assert one_is_unsure.differ and not one_is_unsure.error, one_is_unsure
    theirs[second] = 5.0
    wrong = place(noisy(0.02, first=5.0, second=6.0), theirs)
    assert wrong.differ and wrong.error, wrong
    far = place(noisy(1.2, first=9.0, second=5.0), theirs)
    assert not far.differ and far.error, far
    not_finite = place(noisy(0.02, second=math.nan), theirs)
    assert not_finite.error, not_finite

    uneven = place(noisy(0.3, first=9.0), theirs)
    assert not uneven.error, uneven
    assert agree([agreed, tie, uneven])
    assert not agree([agreed, tie, wrong])
    assert not agree([agreed, uneven, uneven])


if __name__ == "__main__":
    check_itself()
