# SPDX-License-Identifier: Apache-2.0
"""Optimisers: Muon for the matrices inside the layers, AdamW for all else.

Muon (K. Jordan, 2024): the momentum of a matrix is replaced by the nearest orthogonal one, found by
a quintic Newton-Schulz iteration, before it is applied. Every expert counts as its own matrix.
"""

import torch
from torch import Tensor


def orthogonalise(stack: Tensor, steps: int = 5) -> Tensor:
    """stack [N, rows, columns] with rows <= columns -> singular values of about 1."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = stack / (stack.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    x = x.bfloat16()
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.float()


class Muon(torch.optim.Optimizer):
    def __init__(self, parameters, lr: float = 0.02, momentum: float = 0.95, decay: float = 0.0):
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            by_shape: dict[tuple, list] = {}
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                m = state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                update = p.grad.lerp(m, group["momentum"])  # Nesterov
                by_shape.setdefault(p.shape[-2:], []).append((p, update.view(-1, *p.shape[-2:])))
            for entries in by_shape.values():
                stacked = orthogonalise(torch.cat([u for _, u in entries]))
                for (p, u), o in zip(entries, stacked.split([len(u) for _, u in entries])):
                    p.mul_(1 - group["lr"] * group["decay"])
                    p.add_(o.view(p.shape), alpha=-group["lr"])


def make_optimisers(model, muon_lr: float = 0.02, adam_lr: float = 3e-3):
    """Both optimisers over all parameters; group["base_lr"] is the rate that a schedule scales."""
    inner, rest = [], []
    for name, p in model.named_parameters():
        matrix = name.startswith("blocks.") and p.ndim > 1 and not name.endswith("router")
        (inner if matrix else rest).append(p)
    muon = Muon(inner, lr=muon_lr, decay=0.1)
    adam = torch.optim.AdamW(rest, lr=adam_lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    for optimiser in (muon, adam):
        for group in optimiser.param_groups:
            group["base_lr"] = group["lr"]
    return muon, adam
