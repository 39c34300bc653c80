# SPDX-License-Identifier: Apache-2.0
"""Mixtral in numpy float64, written from the model's description and not from transformers.

A second opinion on the reference: it bounds the rounding of the float32 logits and shows how close
the router came to a tie. Shapes: ids [n], logits [n, vocab], router logits [layers, n, experts].
"""

import numpy as np


def rms_norm(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rotate(x, theta):
    """Rotary embedding of x [n, heads, dim]: element i turns with element i + dim / 2."""
    half = x.shape[-1] // 2
    frequency = theta ** (-np.arange(half) / half)
    angle = np.arange(len(x))[:, None, None] * frequency
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle),
                           b * np.cos(angle) + a * np.sin(angle)], axis=-1)


def attention(x, w, at, config):
    n, heads, kv_heads = len(x), config["num_attention_heads"], config["num_key_value_heads"]

    def project(name, count):
        return (x @ w[f"{at}self_attn.{name}_proj.weight"].T).reshape(n, count, -1)

    q = rotate(project("q", heads), config["rope_theta"])
    k = rotate(project("k", kv_heads), config["rope_theta"])
    group = heads // kv_heads  # query head h reads key head h // group
    k, v = (np.repeat(t, group, axis=1) for t in (k, project("v", kv_heads)))
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1])
    distance = np.arange(n)[:, None] - np.arange(n)[None, :]
    window = config["sliding_window"] or n  # a window of w sees itself and w - 1 before it
    visible = (distance >= 0) & (distance < window)
    mixed = np.einsum("hqk,khd->qhd", softmax(np.where(visible, scores, -np.inf)), v)
    return mixed.reshape(n, -1) @ w[at + "self_attn.o_proj.weight"].T


def experts(x, w, at, top_k):
    router = x @ w[at + "block_sparse_moe.gate.weight"].T
    chosen = np.argsort(-router, axis=-1, kind="stable")[:, :top_k]
    share = softmax(np.take_along_axis(router, chosen, axis=-1))
    out = np.zeros_like(x)
    for row, (ids, shares) in enumerate(zip(chosen, share)):
        for expert, weight in zip(ids, shares):
            w1, w2, w3 = (w[f"{at}block_sparse_moe.experts.{expert}.w{i}.weight"] for i in (1, 2, 3))
            gate = w1 @ x[row]
            out[row] += weight * (w2 @ (gate / (1 + np.exp(-gate)) * (w3 @ x[row])))
    return out, router


def forward(w, config, ids):
    """Logits of every position and the router logits; w maps on-disk names to float64 arrays."""
    eps = config["rms_norm_eps"]
    x = w["model.embed_tokens.weight"][np.asarray(ids)]
    routers = []
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        x = x + attention(rms_norm(x, w[at + "input_layernorm.weight"], eps), w, at, config)
        y, router = experts(rms_norm(x, w[at + "post_attention_layernorm.weight"], eps), w, at,
                            config["num_experts_per_tok"])
        x = x + y
        routers.append(router)
    head = "model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"
    return rms_norm(x, w["model.norm.weight"], eps) @ w[head].T, np.stack(routers)
