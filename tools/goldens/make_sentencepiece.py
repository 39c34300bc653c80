# SPDX-License-Identifier: Apache-2.0
"""Trains the golden SentencePiece models and writes tests/golden/tokenizers/sp_*/.

The answers are those on which transformers' LlamaTokenizer and LlamaTokenizerFast agree; for texts
with user-defined pieces, which those two find in different ways, those of sentencepiece itself.
Without torch: transformers, sentencepiece and protobuf are enough.
"""

import io
import json
import tempfile
from pathlib import Path

import sentencepiece
from transformers import LlamaTokenizer, LlamaTokenizerFast

import corpus
import text_cases
from golden_hash import fnv1a64, hash_ids

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "golden" / "tokenizers"
LLAMA = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}
MODELS = {
    "sp_bpe": {"model_type": "bpe", "vocab_size": 1100, "byte_fallback": True, **LLAMA,
               "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
               "allow_whitespace_only_pieces": True, "split_digits": True,
               "user_defined_symbols": ["<user>", "▁▁▁"], "control_symbols": ["[INST]", "[/INST]"]},
    "sp_unigram": {"model_type": "unigram", "vocab_size": 1100, "byte_fallback": True, **LLAMA,
                   "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
                   "add_dummy_prefix": False, "control_symbols": ["<|x|>"]},
    "sp_unigram_nfkc": {"model_type": "unigram", "vocab_size": 800, "byte_fallback": False, **LLAMA,
                        "normalization_rule_name": "nmt_nfkc"},
}


def train(options: dict) -> bytes:
    lines = corpus.training_text()[::6] + list(text_cases.CODE + text_cases.PROSE)
    lines = [line for text in lines for line in text.split("\n") if line and "\0" not in line]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, num_threads=1,
        hard_vocab_limit=False, minloglevel=2, **options)
    return model.getvalue()


class Reference:
    def __init__(self, model: bytes):
        self.sp = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.special = [self.sp.id_to_piece(i) for i in range(self.sp.get_piece_size())
                        if self.sp.is_control(i) or self.sp.is_unknown(i)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.model"
            path.write_bytes(model)
            prefix = LlamaTokenizer(str(path)).sp_model.encode("a", out_type=str)[0][0] == "▁"
            more = {"additional_special_tokens": self.special[3:], "add_prefix_space": prefix}
            self.slow = LlamaTokenizer(str(path), legacy=True, **more)
            self.fast = LlamaTokenizerFast(str(path), legacy=True, **more)

    def case(self, group: str, text: str) -> dict | None:
        """Nothing where the two do not agree."""
        ids = [t.encode(text, add_special_tokens=False) for t in (self.slow, self.fast)]
        if not any(s in text for s in self.special):
            ids.append(self.sp.encode(text))
        if any(i != ids[0] for i in ids):
            return None
        special = self.fast.encode(text)
        case = {"group": group, "text": text, "ids": ids[0]}
        if special != ids[0]:
            case["ids_special"] = special
        texts = {key: self.fast.decode(special, skip_special_tokens=key == "decoded_skip",
                                       clean_up_tokenization_spaces=False)
                 for key in ("decoded", "decoded_skip")}
        return case | {k: v for k, v in texts.items() if v != text}


def cases(model: bytes, name: str):
    reference = Reference(model)
    seed = len(name)
    groups = [(g, t) for g, texts in text_cases.GROUPS.items() for t in texts]
    groups += [("added", t) for t in text_cases.around_added(reference.special, seed)]
    groups += [("random", t) for t in text_cases.random_texts(seed, 40)]
    found = [reference.case(group, text) for group, text in groups]
    print(name, len(found), "texts,", sum(c is None for c in found), "left out")
    yield from (c for c in found if c)
    for text in ("<user>", "a <user> b", "x<user>y", "    four", "▁▁▁▁", "a   <user><user>"):
        if name == "sp_bpe":
            ids = reference.sp.encode(text)
            bos = [reference.sp.bos_id(), *ids]
            yield {"group": "user", "text": text, "ids": ids, "ids_special": bos,
                   "decoded": "<s>" + reference.sp.id_to_piece(ids[0])[:1].replace("▁", " ")
                   * reference.sp.id_to_piece(ids[0]).startswith("▁")
                   + reference.sp.decode(ids),
                   "decoded_skip": reference.sp.decode(ids)}
    for rule in text_cases.RULES[1:]:
        text = text_cases.text_of_rule(rule)
        ids = reference.sp.encode(text)
        yield {"group": "long", "rule": rule, "text_bytes": len(text.encode()),
               "text_hash": fnv1a64(text.encode()), "count": len(ids), "ids_hash": hash_ids(ids),
               "decoded_hash": fnv1a64(reference.fast.decode(
                   ids, clean_up_tokenization_spaces=False).encode())}


def main() -> None:
    for name, options in MODELS.items():
        folder = FOLDER / name
        folder.mkdir(exist_ok=True)
        model = train(options)
        (folder / "tokenizer.model").write_bytes(model)
        lines = [json.dumps(c, separators=(",", ":")) for c in cases(model, name)]
        (folder / "cases.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
