# SPDX-License-Identifier: Apache-2.0
"""The demo model in torch, written for quick training on a CPU.

The mathematics is that of transformers' MixtralForCausalLM (verify_export.py compares the two).
Differences are of speed only: experts run over tokens sorted by expert, and the last layer and the
head run at the selected positions only, because the loss looks at few of them.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

QUANT_BLOCK = 32


@dataclass(frozen=True)
class Config:
    vocab: int = 1408
    hidden: int = 256
    layers: int = 2
    heads: int = 8
    kv_heads: int = 4
    head_dim: int = 32
    experts: int = 8
    expert_inner: int = 256
    top_k: int = 2
    rope_theta: float = 10000.0
    norm_eps: float = 1e-5
    context: int = 1024


def fake_q4_0(weight: Tensor) -> Tensor:
    """`weight` as it comes back from q4_0 (blocks of 32, scale f16 = signed amax / -8); the
    gradient passes straight through."""
    with torch.no_grad():
        blocks = weight.reshape(-1, QUANT_BLOCK)
        at = blocks.abs().argmax(dim=1, keepdim=True)
        scale = blocks.gather(1, at) / -8
        inverse = torch.where(scale == 0, 0.0, 1 / scale)
        codes = (blocks * inverse + 8.5).floor_().clamp_(0, 15)
        rounded = ((codes - 8) * scale.half().float()).reshape(weight.shape)
    return weight + (rounded - weight).detach()


def fake_q8_0(weight: Tensor) -> Tensor:
    """`weight` as it comes back from q8_0 (blocks of 32, scale f16 = amax / 127)."""
    blocks = weight.reshape(-1, QUANT_BLOCK)
    scale = blocks.abs().amax(dim=1, keepdim=True) / 127
    inverse = torch.where(scale == 0, 0.0, 1 / scale)
    return ((blocks * inverse).round() * scale.half().float()).reshape(weight.shape)


class Precision:
    """How a matrix enters a product: rounded to the compute type, and to q4_0 before if asked."""

    def __init__(self, dtype: torch.dtype, q4: bool = False):
        self.dtype, self.q4 = dtype, q4

    def matrix(self, weight: Tensor) -> Tensor:
        return (fake_q4_0(weight) if self.q4 else weight).to(self.dtype)


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    low, high = x.chunk(2, dim=-1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1)


class Layer(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        c = self.config = config
        self.input_norm = nn.Parameter(torch.ones(c.hidden))
        self.post_norm = nn.Parameter(torch.ones(c.hidden))
        self.q = nn.Parameter(torch.empty(c.heads * c.head_dim, c.hidden))
        self.k = nn.Parameter(torch.empty(c.kv_heads * c.head_dim, c.hidden))
        self.v = nn.Parameter(torch.empty(c.kv_heads * c.head_dim, c.hidden))
        self.o = nn.Parameter(torch.empty(c.hidden, c.heads * c.head_dim))
        self.router = nn.Parameter(torch.empty(c.experts, c.hidden))
        self.w1 = nn.Parameter(torch.empty(c.experts, c.expert_inner, c.hidden))
        self.w3 = nn.Parameter(torch.empty(c.experts, c.expert_inner, c.hidden))
        self.w2 = nn.Parameter(torch.empty(c.experts, c.hidden, c.expert_inner))
        quiet = 0.2  # residual branches start small, so that tokens stay legible in the stream
        for name, weight in self.named_parameters():
            if weight.ndim > 1:
                scale = weight.shape[-1] ** -0.5 * (quiet if name in ("o", "w2") else 1)
                nn.init.normal_(weight, std=scale)

    def attention(self, x: Tensor, select: Tensor | None, rope: tuple[Tensor, Tensor],
                  precision: Precision) -> Tensor:
        """x [B, T, hidden]; select [B, S] are the query positions, all of them if None."""
        c = self.config
        batch, length, _ = x.shape
        cos, sin = (table[:length] for table in rope)
        x = x.to(precision.dtype)
        kv = x @ torch.cat((precision.matrix(self.k), precision.matrix(self.v))).T
        k, v = kv.view(batch, length, 2, c.kv_heads, c.head_dim).permute(2, 0, 3, 1, 4)
        k = rotate(k, cos, sin)
        mask = None
        if select is not None:
            x = x.gather(1, select[..., None].expand(-1, -1, c.hidden))
            mask = (torch.arange(length) <= select[..., None])[:, None]
            cos, sin = cos[select][:, None], sin[select][:, None]
        q = (x @ precision.matrix(self.q).T).view(batch, -1, c.heads, c.head_dim).transpose(1, 2)
        q = rotate(q, cos, sin)
        group = c.heads // c.kv_heads
        mixed = F.scaled_dot_product_attention(
            q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1), attn_mask=mask,
            is_causal=mask is None)
        return mixed.transpose(1, 2).flatten(2) @ precision.matrix(self.o).T

    def moe(self, x: Tensor, precision: Precision) -> tuple[Tensor, Tensor]:
        """x [N, hidden] -> (y [N, hidden], router loss)."""
        c = self.config
        logits = x.float() @ self.router.to(precision.dtype).float().T
        probabilities = logits.softmax(-1)
        weights, chosen = probabilities.topk(c.top_k, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)

        order = chosen.flatten().argsort(stable=True)
        counts = torch.bincount(chosen.flatten(), minlength=c.experts)
        token = order // c.top_k
        parts = x.to(precision.dtype)[token].split(counts.tolist())
        up = torch.cat((precision.matrix(self.w1), precision.matrix(self.w3)), 1).unbind()
        down = precision.matrix(self.w2).unbind()
        outputs = []
        for part, w13, w2 in zip(parts, up, down):
            gate, value = (part @ w13.T).chunk(2, dim=-1)
            outputs.append((F.silu(gate) * value) @ w2.T)
        y = torch.cat(outputs).float() * weights.flatten()[order, None]
        y = torch.zeros_like(x, dtype=torch.float32).index_add(0, token, y)

        load = counts.float() / counts.sum()
        balance = c.experts * (load * probabilities.mean(0)).sum()
        z = logits.logsumexp(-1).square().mean()
        return y, 0.01 * balance + 0.001 * z

    def forward(self, x: Tensor, select: Tensor | None, rope: tuple[Tensor, Tensor],
                precision: Precision) -> tuple[Tensor, Tensor]:
        c = self.config
        mixed = self.attention(rms_norm(x, self.input_norm, c.norm_eps), select, rope, precision)
        if select is not None:
            x = x.gather(1, select[..., None].expand(-1, -1, c.hidden))
        x = x + mixed.float()
        y, loss = self.moe(rms_norm(x, self.post_norm, c.norm_eps).flatten(0, 1), precision)
        return x + y.view(x.shape), loss


class DemoModel(nn.Module):
    def __init__(self, config: Config = Config()):
        super().__init__()
        self.config = config
        self.embedding = nn.Parameter(torch.randn(config.vocab, config.hidden) * 0.06)
        self.blocks = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.final_norm = nn.Parameter(torch.ones(config.hidden))
        steps = torch.arange(0, config.head_dim, 2).float() / config.head_dim
        # Inverse first, then the product: another order differs by 1e-5 radians at position 500.
        angles = torch.arange(config.context).float()[:, None] * (1 / config.rope_theta ** steps)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids: Tensor, select: Tensor | None = None,
                precision: Precision = Precision(torch.float32)) -> tuple[Tensor, Tensor]:
        """ids [B, T] -> (logits [B, S, vocab] at positions select [B, S], router loss)."""
        rope = self.cos.to(precision.dtype), self.sin.to(precision.dtype)
        x = F.embedding(ids, self.embedding.to(precision.dtype)).float()
        total = torch.zeros(())
        for i, block in enumerate(self.blocks):
            last = i + 1 == len(self.blocks)
            x, loss = block(x, select if last else None, rope, precision)
            total = total + loss
        x = rms_norm(x, self.final_norm, self.config.norm_eps).to(precision.dtype)
        return x @ self.embedding.to(precision.dtype).T, total
