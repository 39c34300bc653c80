# SPDX-License-Identifier: Apache-2.0
"""Writes cases.jsonl beside each golden tokenizer.json, and fragments.json for the long inputs.

The format is described in tests/golden/README.md.
"""

import itertools
import json
import random
import re
import zlib
from pathlib import Path

from tokenizers import Tokenizer

import text_cases
from golden_hash import fnv1a64, hash_ids

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "golden" / "tokenizers"
RANDOM_TEXTS = 24
RANDOM_ID_LISTS = 12


def decoded(tokenizer: Tokenizer, ids: list[int]) -> dict:
    return {"decoded": tokenizer.decode(ids, skip_special_tokens=False),
            "decoded_skip": tokenizer.decode(ids, skip_special_tokens=True)}


def encode_case(tokenizer: Tokenizer, group: str, text: str) -> dict:
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    special = tokenizer.encode(text, add_special_tokens=True).ids
    case = {"group": group, "text": text, "ids": ids}
    if special != ids:
        case["ids_special"] = special
    return case | {k: v for k, v in decoded(tokenizer, special).items() if v != text}


def rule_case(tokenizer: Tokenizer, rule: dict) -> dict:
    text = text_cases.text_of_rule(rule)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    return {"group": "long", "rule": rule, "text_bytes": len(text.encode()),
            "text_hash": fnv1a64(text.encode()), "count": len(ids), "ids_hash": hash_ids(ids),
            "decoded_hash": fnv1a64(tokenizer.decode(ids, skip_special_tokens=False).encode())}


def streamable(tokenizer: Tokenizer, ids: list[int]) -> bool:
    """Whether every run of byte tokens is good or bad as a whole. One bad byte makes the reference
    drop the good characters around it, also those that a stream has written long before."""
    fallback = json.loads(tokenizer.to_str())["model"]["byte_fallback"]
    tokens = [tokenizer.id_to_token(i) for i in ids] if fallback else []
    for is_byte, run in itertools.groupby(tokens, lambda t: re.fullmatch("<0x..>", t) is not None):
        if is_byte:
            data = bytes(int(t[3:5], 16) for t in run)
            good = data.decode(errors="ignore")
            if good and good.encode() != data:
                return False
    return True


def cases(tokenizer: Tokenizer, seed: int):
    for group, texts in text_cases.GROUPS.items():
        for text in texts:
            yield encode_case(tokenizer, group, text)
    added = [t.content for t in tokenizer.get_added_tokens_decoder().values()]
    for text in dict.fromkeys(text_cases.around_added(added, seed)):
        yield encode_case(tokenizer, "added", text)
    for text in text_cases.random_texts(seed, RANDOM_TEXTS):
        yield encode_case(tokenizer, "random", text)
    rng = random.Random(seed)
    size = tokenizer.get_vocab_size()
    for _ in range(RANDOM_ID_LISTS):  # no text encodes to these: broken UTF-8, tokens in any order
        ids = [rng.randrange(size) for _ in range(rng.randrange(1, 24))]
        if not streamable(tokenizer, ids):
            continue
        yield {"group": "decode", "ids": ids} | decoded(tokenizer, ids)
    for rule in text_cases.RULES:
        yield rule_case(tokenizer, rule)


def folders() -> list[Path]:
    return sorted(f.parent for f in FOLDER.glob("*/tokenizer.json"))


def lines(folder: Path) -> list[str]:
    """What cases.jsonl of a folder must contain."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    seed = zlib.crc32(folder.name.encode())  # other random texts for each
    return [json.dumps(case, separators=(",", ":")) for case in cases(tokenizer, seed)]


def main() -> None:
    (FOLDER / "fragments.json").write_text(json.dumps(text_cases.FRAGMENTS, indent=1) + "\n")
    total = 0
    for folder in folders():
        out = lines(folder)
        (folder / "cases.jsonl").write_text("\n".join(out) + "\n")
        total += len(out)
        print(folder.name, len(out), "cases")
    print(total, "cases in all")


if __name__ == "__main__":
    main()
