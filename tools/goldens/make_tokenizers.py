# SPDX-License-Identifier: Apache-2.0
"""Trains the golden tokenizers and writes tests/golden/tokenizers/NAME/tokenizer.json.

The files are put together here, not saved by the library, because old and new spellings of the
same thing are wanted.
"""

import json
import random
from pathlib import Path

from tokenizers import Tokenizer, pre_tokenizers, trainers
from tokenizers.models import BPE

import corpus
import text_cases
from tokenizer_forms import FORMS, MARK, Form, byte_level

OUT = Path(__file__).resolve().parents[2] / "tests" / "golden" / "tokenizers"


def train(form: Form) -> tuple[list[str], list[list[str]]]:
    """Byte-level vocabulary in id order, and merges in rank order."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    if form.pairs:
        mapped = {" ": "Ġ", "\n": "Ċ"}  # the other characters stand for themselves
        symbols = [mapped.get(c, c) for c in form.pairs]
        merges = [[a, b] for a in symbols for b in symbols]
        random.Random(15).shuffle(merges)  # the pairs "::" and ".*", split as strings, come late
        return sorted(alphabet) + [a + b for a, b in merges], merges
    lines = corpus.training_text()
    if form.decoder:
        return train_text(form, lines)
    pre_tokenizer = form.pre_tokenizer
    if form.whole_lines:
        pre_tokenizer = byte_level(use_regex=False)
        lines = lines[::8] + 4 * [t for group in text_cases.GROUPS.values() for t in group]
    shell = json.loads(Tokenizer(BPE()).to_str()) | {"pre_tokenizer": pre_tokenizer,
                                                     "normalizer": form.normalizer}
    tokenizer = Tokenizer.from_str(json.dumps(shell))
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=form.vocab, show_progress=False, special_tokens=[],
        max_token_length=8 if form.whole_lines else None,
        initial_alphabet=alphabet))
    model = json.loads(tokenizer.to_str())["model"]
    words = sorted(model["vocab"], key=model["vocab"].get)
    merges = [m if isinstance(m, list) else m.split(" ") for m in model["merges"]]
    if form.drop_merges:
        merges = [m for rank, m in enumerate(merges) if rank % form.drop_merges]
    return words, merges


def train_text(form: Form, lines: list[str]) -> tuple[list[str], list[list[str]]]:
    """The same with tokens of text, learned from whole lines with marks for spaces."""
    lines = lines[::8] + 4 * [t for group in text_cases.GROUPS.values() for t in group]
    tokenizer = Tokenizer(BPE())
    tokenizer.train_from_iterator(
        [" ".join(("", line)).replace(" ", MARK) for line in lines],
        trainers.BpeTrainer(vocab_size=form.vocab, show_progress=False, special_tokens=[],
                            limit_alphabet=300, max_token_length=8))
    model = json.loads(tokenizer.to_str())["model"]
    words = sorted(model["vocab"], key=model["vocab"].get)
    return words, [m if isinstance(m, list) else m.split(" ") for m in model["merges"]]


def fill_template(processor: dict | None, ids: dict[str, int]) -> dict | None:
    if processor is None:
        return None
    if processor["type"] == "Sequence":
        return processor | {"processors": [fill_template(p, ids) for p in processor["processors"]]}
    if processor["type"] == "TemplateProcessing":
        return processor | {"special_tokens": {
            token: {"id": token, "ids": [ids[token]], "tokens": [token]}
            for token in sorted(set(processor["special_tokens"]))}}
    return processor


def assemble(form: Form) -> dict:
    words, merges = train(form)
    words = [f"<0x{byte:02X}>" for byte in range(form.bytes_until)] + words
    if form.added_first:
        words = [a.content for a in form.added] + words
        words = list(dict.fromkeys(words))  # an added token may be a word, too
    ids = {word: i for i, word in enumerate(words)}
    for token in form.added:
        ids.setdefault(token.content, len(ids))
    model = {
        "type": "BPE", "dropout": None, "unk_token": form.unknown,
        "continuing_subword_prefix": "" if form.old_file else None,
        "end_of_word_suffix": "" if form.old_file else None, "fuse_unk": form.fuse_unknown,
        "byte_fallback": form.bytes_until > 0, "ignore_merges": form.ignore_merges,
        "vocab": {word: ids[word] for word in words},
        "merges": merges if form.merges_as_pairs else [" ".join(m) for m in merges],
    }
    if form.old_file:  # as files of 2021 look
        for key in ("type", "byte_fallback", "ignore_merges"):
            del model[key]
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": sorted(({"id": ids[t.content], "content": t.content}
                                | {flag: getattr(t, flag) for flag in flags}
                                for t in form.added), key=lambda token: token["id"]),
        "normalizer": form.normalizer,
        "pre_tokenizer": form.pre_tokenizer,
        "post_processor": fill_template(form.post_processor, ids),
        "decoder": form.decoder or {"type": "ByteLevel", "add_prefix_space": True,
                                    "trim_offsets": True, "use_regex": True},
        "model": model,
    }


def main() -> None:
    for form in FORMS:
        text = json.dumps(assemble(form), ensure_ascii=False, indent=1)
        Tokenizer.from_str(text)  # the library must accept it
        folder = OUT / form.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(text + "\n")
        print(form.name, len(text))


if __name__ == "__main__":
    main()
