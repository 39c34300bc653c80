# SPDX-License-Identifier: Apache-2.0
"""Checkpoints stored in 8 and 4 bits, and the exact values they stand for.

fp8: as DeepSeek-V3. Linear layers are float8_e4m3; `NAME.weight_scale_inv` [rows/128, cols/128] is
what each block of 128 x 128 is multiplied by. Embedding, head, norms and routers are not.
mxfp4: as GPT-OSS. The experts' `gate_up_proj` and `down_proj` are `_blocks` [expert, row, col/32, 16]
of two 4-bit floats a byte, low half first, and `_scales` [expert, row, col/32], exponents plus 127.
Products with mxfp4 take activations of 8 bits, as docs/numerics.md defines them (q8_32).
"""

import re
from unittest import mock

import torch
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

CONFIG = {
    "fp8": {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
            "weight_block_size": [128, 128]},
    "mxfp4": {"modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router",
                                         "model.embed_tokens", "lm_head"],
              "quant_method": "mxfp4"},
}
FP8_LAYERS = r"(self_attn|mlp)\..*proj(_with_mqa)?\.weight$"
MXFP4_LAYERS = r"mlp\.experts\.(gate_up|down)_proj$"
FP4_VALUES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def expand(scales: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """The scale of every element."""
    for dimension in (0, 1):
        scales = scales.repeat_interleave(128, dim=dimension)
    return scales[:shape[0], :shape[1]]


def store_fp8(name: str, weight: torch.Tensor) -> dict[str, torch.Tensor]:
    values = weight.float()
    rows, cols = (-(-n // 128) for n in values.shape)
    padded = torch.zeros(rows * 128, cols * 128)
    padded[:values.shape[0], :values.shape[1]] = values
    largest = padded.reshape(rows, 128, cols, 128).abs().amax(dim=(1, 3))
    scales = largest / torch.finfo(torch.float8_e4m3fn).max
    return {name: (values / expand(scales, values.shape)).to(torch.float8_e4m3fn),
            name + "_scale_inv": scales}


def store_mxfp4(name: str, weight: torch.Tensor) -> dict[str, torch.Tensor]:
    blocks = weight.float().transpose(1, 2)  # [expert, row, col]
    blocks = blocks.reshape(*blocks.shape[:2], -1, 32)
    exponent = torch.floor(torch.log2(blocks.abs().amax(dim=-1))) - 2
    scaled = blocks / torch.exp2(exponent).unsqueeze(-1)
    code = (scaled.abs().unsqueeze(-1) - FP4_VALUES).abs().argmin(dim=-1)
    code = (code + 8 * (scaled < 0)).to(torch.uint8)
    return {name + "_blocks": code[..., 0::2] | code[..., 1::2] << 4,
            name + "_scales": (exponent + 127).to(torch.uint8)}


def rounded(x: torch.Tensor) -> torch.Tensor:
    """What the 8-bit activations stand for: blocks of 32 with the scale max|x| / 127."""
    blocks = x.unflatten(-1, (-1, 32))
    scale = blocks.abs().amax(dim=-1, keepdim=True) / 127
    q = torch.where(scale > 0, torch.round(blocks * (1 / scale)), 0)
    return (q * scale).flatten(-2)


def round_activations(model) -> None:
    """From now on both products of the experts of a GPT-OSS model take rounded activations."""
    def rounding(forward):
        def run(*args, **kwargs):
            with mock.patch.object(torch.Tensor, "__matmul__", lambda x, w: torch.matmul(rounded(x), w)):
                return forward(*args, **kwargs)
        return run
    for module in model.modules():
        if type(module).__name__ == "GptOssExperts":
            module.forward = rounding(module.forward)


def store(kind: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    pattern, stored = {"fp8": (FP8_LAYERS, store_fp8), "mxfp4": (MXFP4_LAYERS, store_mxfp4)}[kind]
    made = {}
    for name, tensor in tensors.items():
        made |= stored(name, tensor) if re.search(pattern, name) else {name: tensor}
    return made


def values(kind: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """What the stored tensors stand for, in float32."""
    made = {}
    for name, tensor in tensors.items():
        if name.endswith(("_scale_inv", "_scales")):
            continue
        if kind == "fp8" and name + "_scale_inv" in tensors:
            made[name] = tensor.float() * expand(tensors[name + "_scale_inv"], tensor.shape)
        elif name.endswith("_blocks"):
            scales = tensors[name.replace("_blocks", "_scales")]
            made[name.removesuffix("_blocks")] = convert_moe_packed_tensors(
                tensor, scales, dtype=torch.float32)
        else:
            made[name] = tensor.float()
    return made
