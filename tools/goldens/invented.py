# SPDX-License-Identifier: Apache-2.0
"""An architecture that nobody has: options of many families combined, in the manner of transformers.

Its document, tests/golden/models/invented_f32/architecture.yaml, is all that Colibri knows of it. That proves
that a family is data.
"""

import torch
import torch.nn.functional as F
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput


class InventedConfig(PretrainedConfig):
    model_type = "invented"


class Norm(nn.Module):
    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class Attention(nn.Module):
    """Grouped queries; queries, keys and values clamped; a part of each head rotated in
    neighbouring pairs; a sink in each head's softmax; biases on the keys and on the output only."""

    def __init__(self, config, layer: int):
        super().__init__()
        self.heads, self.kv_heads = config.num_heads, config.num_kv_heads
        self.head_dim, self.rotated = config.head_dim, config.rotated_dims
        self.window = config.window if config.layer_kinds[layer] == "sliding_attention" else None
        self.theta, self.stretch = config.rope_theta, config.rope_stretch
        self.scale, self.limit = config.score_scale, config.projection_limit
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        self.query = nn.Linear(config.hidden_size, queries, bias=False)
        self.key = nn.Linear(config.hidden_size, keys, bias=True)
        self.value = nn.Linear(config.hidden_size, keys, bias=False)
        self.out = nn.Linear(queries, config.hidden_size, bias=True)
        self.sinks = nn.Parameter(torch.zeros(self.heads))

    def rotate(self, x):
        """x [rows, heads, head_dim]; linear scaling divides the positions."""
        pairs = torch.arange(0, self.rotated, 2).to(torch.float32)
        frequency = 1.0 / self.theta ** (pairs / self.rotated) / self.stretch
        angle = torch.arange(len(x)).to(torch.float32)[:, None, None] * frequency
        turned, rest = x[..., :self.rotated], x[..., self.rotated:]
        even, odd = turned[..., 0::2], turned[..., 1::2]
        pair = torch.stack((even * angle.cos() - odd * angle.sin(),
                            odd * angle.cos() + even * angle.sin()), dim=-1)
        return torch.cat((pair.flatten(-2), rest), dim=-1)

    def forward(self, x):
        rows = len(x)
        q, k, v = (project(x).clamp(-self.limit, self.limit).view(rows, -1, self.head_dim)
                   for project in (self.query, self.key, self.value))
        q, k = self.rotate(q), self.rotate(k)
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        scores = torch.einsum("qhd,khd->hqk", q, k) * self.scale
        distance = torch.arange(rows)[:, None] - torch.arange(rows)[None, :]
        hidden = distance < 0
        if self.window:
            hidden |= distance >= self.window
        scores = scores.masked_fill(hidden, float("-inf"))
        sinks = self.sinks[:, None, None].expand(-1, rows, 1)
        shares = torch.softmax(torch.cat((scores, sinks), dim=-1), dim=-1)[..., :-1]
        return self.out(torch.einsum("hqk,khd->qhd", shares, v).reshape(rows, -1))


class Ffn(nn.Module):
    """down(swish(gate) * up): the gate clamped from above, up from both sides, swish with a slope."""

    def __init__(self, config, inner: int, bias: bool):
        super().__init__()
        self.limit, self.slope = config.gate_limit, config.gate_slope
        self.gate = nn.Linear(config.hidden_size, inner, bias=False)
        self.up = nn.Linear(config.hidden_size, inner, bias=False)
        self.down = nn.Linear(inner, config.hidden_size, bias=bias)

    def forward(self, x):
        gate = self.gate(x).clamp(max=self.limit)
        up = self.up(x).clamp(-self.limit, self.limit)
        return self.down(gate * torch.sigmoid(self.slope * gate) * up)


class Moe(nn.Module):
    """A sigmoid router without groups, weights renormalised and scaled; a shared expert with a gate."""

    def __init__(self, config):
        super().__init__()
        self.top_k, self.scale = config.top_k, config.route_scale
        self.router = nn.Linear(config.hidden_size, config.num_experts, bias=True)
        self.experts = nn.ModuleList(
            Ffn(config, config.expert_size, bias=True) for _ in range(config.num_experts))
        self.common = Ffn(config, config.common_size, bias=True)
        self.common_gate = nn.Linear(config.hidden_size, 1, bias=False)

    def forward(self, x):
        weight, chosen = torch.topk(torch.sigmoid(self.router(x)), self.top_k, dim=-1)
        weight = weight / weight.sum(dim=-1, keepdim=True) * self.scale
        out = torch.sigmoid(self.common_gate(x)) * self.common(x)
        for expert, network in enumerate(self.experts):
            row, slot = torch.where(chosen == expert)
            out = out.index_add(0, row, network(x[row]) * weight[row, slot, None])
        return out


class Block(nn.Module):
    def __init__(self, config, layer: int):
        super().__init__()
        self.scale = config.residual_scale
        self.norm_before_attention = Norm(config.hidden_size, config.norm_eps)
        self.attention = Attention(config, layer)
        self.norm_before_ffn = Norm(config.hidden_size, config.norm_eps)
        dense = layer in config.plain_layers
        self.ffn = Ffn(config, config.plain_size, bias=True) if dense else Moe(config)

    def forward(self, x):
        x = x + self.attention(self.norm_before_attention(x)) * self.scale
        return x + self.ffn(self.norm_before_ffn(x)) * self.scale


class InventedForCausalLM(PreTrainedModel):
    config_class = InventedConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.block = nn.ModuleList(
            Block(config, layer) for layer in range(config.num_hidden_layers))
        self.norm = Norm(config.hidden_size, config.norm_eps)
        self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.embedding_scale, self.logits_scale = config.embedding_scale, config.logits_scale
        self.post_init()

    def forward(self, input_ids, **_):
        x = self.embed(input_ids[0]) * self.embedding_scale
        for block in self.block:
            x = block(x)
        return CausalLMOutput(logits=(self.head(self.norm(x)) * self.logits_scale)[None])


AutoConfig.register("invented", InventedConfig)
AutoModelForCausalLM.register(InventedConfig, InventedForCausalLM)
