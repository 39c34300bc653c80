# SPDX-License-Identifier: Apache-2.0
"""Trains the byte-level BPE tokenizer of the demo model: tokenizer.json, tokenizer_config.json.

    python train_tokenizer.py RUN_FOLDER
"""

import json
import sys
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from faults import FAULTS
from log_generator import TRAIN_SEED, make_example

SPECIAL_TOKENS = ("<|end|>", "<|en|>", "<|zh|>", "<|summary|>")
END = SPECIAL_TOKENS[0]
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
VOCAB_SIZE = 1408
CONTEXT = 1024


def _corpus():
    # Generated logs alone would spend the merges on their common words. Repeating the table makes
    # every word of a log one token first, and common pieces of answers next.
    for seed in range(TRAIN_SEED, TRAIN_SEED + 500):
        example = make_example(seed)
        yield example.log
        yield example.answer
    for fault in FAULTS:
        for phrasing in fault.phrasings:
            yield from [" " + phrasing] * 200
        for text in (f" {fault.cause_en}. {fault.action_en}.", fault.cause_zh, fault.action_zh):
            yield from [text] * 60


def train() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE, show_progress=False,
        special_tokens=[AddedToken(t, special=True, normalized=False) for t in SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(_corpus(), trainer)
    return tokenizer


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = train()
    tokenizer.save(str(folder / TOKENIZER_FILES[0]), pretty=False)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END, "pad_token": END,
              "model_max_length": CONTEXT, "clean_up_tokenization_spaces": False}
    (folder / TOKENIZER_FILES[1]).write_text(json.dumps(config, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
