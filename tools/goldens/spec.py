# SPDX-License-Identifier: Apache-2.0
"""What a golden checkpoint is; families/NAME.py list them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Spec:
    name: str
    purpose: str
    settings: dict  # of config.json
    # Storage of the matrices and of everything else (norms, routers, biases); None = the same.
    dtype: str = "float32"
    other_dtype: str | None = None
    shards: int = 1
    # Name of the tokenizer (tests/golden/tokenizers) that is copied into the folder.
    tokenizer: str | None = None
    # Standard deviations (checkpoint.GAINS) that this checkpoint has otherwise.
    gains: dict[str, float] = field(default_factory=dict)
    # Standard deviation of biases: where head and embedding are tied, large ones pull every position
    # towards the same id.
    bias: float = 0.5
    # Mean of the biases that a sigmoid router adds for the choice.
    choice_bias: float = 0.0
    # What must change the logits: a name, and keys of config.json with their other values. A key
    # "@name" is an attribute of the modules that have one, for what config.json cannot say.
    matters: dict[str, dict] = field(default_factory=dict)
    # "fp8" (DeepSeek-V3) or "mxfp4" (GPT-OSS): what the experts and linear layers are stored in.
    quantised: str | None = None
    # Tensors that nothing reads: name and shape. On the hub, those of multi-token prediction.
    idle: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def vocab(self) -> int:
        return self.settings["vocab_size"]
