# SPDX-License-Identifier: Apache-2.0
"""transformers in float64, watched: it bounds the rounding of float32 and shows near ties.

Models widen to float32 by name (`torch.float32`, `.float()`) in norms, routers and softmax. Inside
`arithmetic()` those names mean float64. `choices()` sees every top-k, which is how experts and
groups are chosen.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
import torch


@contextmanager
def arithmetic():
    with (mock.patch.object(torch, "float32", torch.float64),
          mock.patch.object(torch, "float", torch.float64),
          mock.patch.object(torch.Tensor, "float", torch.Tensor.double)):
        yield


@dataclass
class Choices:
    # Between the last chosen and the first that was not, relative to the largest score of its row.
    smallest_gap: float = float("inf")
    # The smallest such gap of each row, in the order of the calls.
    gaps: list[np.ndarray] = field(default_factory=list)
    # By the size of what was chosen from: indices chosen [calls][rows, k].
    chosen: dict[int, list[np.ndarray]] = field(default_factory=dict)

    def watch(self, scores: torch.Tensor, k: int, indices: torch.Tensor) -> None:
        self.chosen.setdefault(scores.shape[-1], []).append(indices.numpy())
        values = scores.numpy()
        if k == values.shape[-1]:
            gap = np.full(values.shape[:-1], np.inf)
        else:
            ranked = np.sort(values, axis=-1)
            largest = np.abs(values, where=np.isfinite(values), out=np.zeros_like(values)).max(axis=-1)
            gap = (ranked[..., -k] - ranked[..., -k - 1]) / largest
        self.gaps.append(gap.reshape(len(gap), -1).min(axis=1))
        self.smallest_gap = min(self.smallest_gap, float(gap.min()))


@contextmanager
def choices():
    seen = Choices()
    real = torch.topk

    def topk(scores, k, *args, **kwargs):
        made = real(scores, k, *args, **kwargs)
        seen.watch(scores, k, made.indices)
        return made

    with (mock.patch.object(torch, "topk", topk), mock.patch.object(torch.Tensor, "topk", topk)):
        yield seen
