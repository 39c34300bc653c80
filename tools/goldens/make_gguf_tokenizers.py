# SPDX-License-Identifier: Apache-2.0
"""Writes golden tokenizers as GGUF files hold them: tests/golden/tokenizers/gguf_*/.

The vocabularies are those of other golden tokenizers, the answers llama.cpp's (llama-cpp-python,
vocabulary only). Its pre-tokenizers are approximations outside of ASCII and its control tokens may
come out of plain text; where its answer is not that of the tokenizer that the vocabulary comes
from, the case is left out.
"""

import json
import sys
from pathlib import Path

import gguf
import llama_cpp
import sentencepiece

import text_cases
from golden_hash import hash_ids

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "golden" / "tokenizers"
# Name of a golden tokenizer, of the pre-tokenizer.
GPT2_KINDS = (("gpt2", "gpt-2"), ("llama3", "llama-bpe"), ("qwen2", "qwen2"),
              ("deepseek3", "deepseek-v3"), ("o200k", "gpt-4o"), ("starcoder", "starcoder"))
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)


def writer(folder: Path, model: str) -> gguf.GGUFWriter:
    folder.mkdir(exist_ok=True)
    file = gguf.GGUFWriter(folder / "tokenizer.gguf", "llama")
    file.add_tokenizer_model(model)
    return file


def finish(file: gguf.GGUFWriter) -> None:
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.close()


def write_gpt2(folder: Path, source: dict, pre: str) -> None:
    model = source["model"]
    types = {t["id"]: CONTROL if t["special"] else USER for t in source["added_tokens"]}
    tokens = {i: t for t, i in model["vocab"].items()}
    tokens |= {t["id"]: t["content"] for t in source["added_tokens"]}
    file = writer(folder, "gpt2")
    file.add_tokenizer_pre(pre)
    file.add_token_list([tokens[i] for i in range(len(tokens))])
    file.add_token_types([types.get(i, NORMAL) for i in range(len(tokens))])
    file.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in model["merges"]])
    special = [i for i, kind in sorted(types.items()) if kind == CONTROL]
    file.add_bos_token_id(special[0])
    file.add_eos_token_id(special[-1])
    file.add_add_bos_token("SpecialToken" in json.dumps(source["post_processor"]))
    finish(file)


def write_llama(folder: Path, model: Path) -> None:
    sp = sentencepiece.SentencePieceProcessor(model_file=str(model))
    ids = range(sp.get_piece_size())
    kinds = [UNKNOWN if sp.is_unknown(i) else CONTROL if sp.is_control(i) else
             BYTE if sp.is_byte(i) else NORMAL for i in ids]
    file = writer(folder, "llama")
    file.add_token_list([sp.id_to_piece(i) for i in ids])
    file.add_token_scores([sp.get_score(i) for i in ids])
    file.add_token_types([USER if sp.id_to_piece(i) in ("<user>", "▁▁▁") else kind
                          for i, kind in zip(ids, kinds)])
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_unk_token_id(0)
    finish(file)


class Llama:
    def __init__(self, folder: Path):
        self.own = llama_cpp.Llama(str(folder / "tokenizer.gguf"), vocab_only=True, verbose=False)

    def ids(self, text: str, add: bool) -> list[int]:
        return self.own.tokenize(text.encode(), add_bos=add, special=True)


def compare(folder: Path, source: Path) -> None:
    llama = Llama(folder)
    kept, count = [], 0
    for line in source.read_text().splitlines():
        case = json.loads(line)
        if case["group"] == "long":
            text = text_cases.text_of_rule(case["rule"])
            # Its regular expressions end the process on longer ones.
            if len(text.encode()) < 6000 and hash_ids(llama.ids(text, False)) == case["ids_hash"]:
                kept.append(case)
        if "text" not in case or case["group"] == "user":
            continue
        count += 1
        if llama.ids(case["text"], False) != case["ids"]:
            continue
        if llama.ids(case["text"], True) == case.get("ids_special", case["ids"]):
            kept.append(case)
    print(folder.name, count, "texts,", len(kept), "kept")
    (folder / "cases.jsonl").write_text(
        "".join(json.dumps(c, separators=(",", ":")) + "\n" for c in kept))


def main() -> int:
    for name, pre in GPT2_KINDS:
        folder = FOLDER / f"gguf_{name}"
        write_gpt2(folder, json.loads((FOLDER / name / "tokenizer.json").read_text()), pre)
        compare(folder, FOLDER / name / "cases.jsonl")
    write_llama(FOLDER / "gguf_sp_bpe", FOLDER / "sp_bpe" / "tokenizer.model")
    compare(FOLDER / "gguf_sp_bpe", FOLDER / "sp_bpe" / "cases.jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main())
