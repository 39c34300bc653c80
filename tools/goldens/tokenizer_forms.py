# SPDX-License-Identifier: Apache-2.0
"""The golden tokenizers: one for each form of tokenizer.json that checkpoints with BPE use.

The patterns are the published ones of the families named beside them.
"""

from dataclasses import dataclass

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = (CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?"
         rf"|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
             r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CJK3 = "[一-龥\u3040-ゟ゠-ヿ]+"
# DeepSeek-V2 lists the letters of scripts with two cases; this is the list up to Armenian.
LETTERS2 = r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆա-և]+"
PUNCTUATION2 = "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+"
CJK2 = "[一-龥ࠀ-一가-\ud7ff]+"


def split(pattern: str, behavior: str = "Isolated", invert: bool = False, kind: str = "Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def byte_level(prefix: bool = False, trim: bool = True, use_regex: bool | None = True):
    form = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim}
    return form if use_regex is None else form | {"use_regex": use_regex}


def digits(individual: bool):
    return {"type": "Digits", "individual_digits": individual}


MARK = "\u2581"  # what SentencePiece writes for a space
REPLACE_SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
REPLACE_MARKS = {"type": "Replace", "pattern": {"String": MARK}, "content": " "}
MARK_FIRST = {"type": "Sequence",
              "normalizers": [{"type": "Prepend", "prepend": MARK}, REPLACE_SPACES]}


def metaspace(scheme: str, split: bool = True, **more):
    return {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": split,
            **more}


def text_decoder(strip: int):
    """Replace, ByteFallback, Fuse and, unless strip is 0, Strip."""
    parts = [REPLACE_MARKS, {"type": "ByteFallback"}, {"type": "Fuse"}]
    if strip:
        parts.append({"type": "Strip", "content": " ", "start": strip, "stop": 0})
    return {"type": "Sequence", "decoders": parts}


def pre_sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


def template(*pieces: str):
    """A TemplateProcessing for one text: "$A" and special tokens in order. The pair form, which
    nothing here uses, is the same twice."""
    def piece(text: str, number: int):
        if text == "$A":
            return {"Sequence": {"id": "AB"[number], "type_id": number}}
        return {"SpecialToken": {"id": text, "type_id": number}}
    return {"type": "TemplateProcessing",
            "single": [piece(p, 0) for p in pieces],
            "pair": [piece(p, n) for n in (0, 1) for p in pieces],
            "special_tokens": [p for p in pieces if p != "$A"]}  # ids are filled in later


def post_sequence(*parts):
    return {"type": "Sequence", "processors": list(parts)}


@dataclass(frozen=True)
class Added:
    """An added token; the flags are those of the file."""
    content: str
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


def specials(*contents: str) -> tuple[Added, ...]:
    return tuple(Added(c) for c in contents)


def plain(*contents: str, **flags) -> tuple[Added, ...]:
    return tuple(Added(c, special=False, **flags) for c in contents)


@dataclass(frozen=True)
class Form:
    name: str
    like: str
    pre_tokenizer: dict | None
    vocab: int = 800  # byte alphabet and merges; added tokens come on top
    normalizer: dict | None = None
    post_processor: dict | None = None
    added: tuple[Added, ...] = ()
    added_first: bool = False  # the added tokens have the first ids and stand in the vocabulary
    merges_as_pairs: bool = False
    ignore_merges: bool = False
    drop_merges: int = 0  # every so many a merge is left out, so that some words need ignore_merges
    old_file: bool = False  # without the keys that newer versions write
    # Merges learned from whole lines cross the borders of pieces, so that every wrong border shows
    # in the ids. A vocabulary learned from pieces would hide most of them.
    whole_lines: bool = True
    # Not trained: one merge for each pair of these characters, in a random order.
    pairs: str = ""
    # Tokens of text, with this decoder, in place of the byte alphabet. Characters that are too rare
    # for the alphabet are unknown.
    decoder: dict | None = None
    unknown: str | None = None
    fuse_unknown: bool = False
    bytes_until: int = 0  # byte tokens <0x00> up to this, behind the added tokens; 0 = no fallback


NFC = {"type": "NFC"}
LLAMA3_ADDED = specials("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>",
                        "<|end_header_id|>", "<|eot_id|>", "<|reserved_special_token_0|>",
                        "<|reserved_special_token_1|>")
SPLIT_CHARACTERS = "ab01 -#~:.*,;<([=@\n"  # the ones on which the forms splits* decide
SPACE_RUNS = plain(*(" " * n for n in range(8, 1, -1)), normalized=True)

FORMS = (
    Form("gpt2", "GPT-2", byte_level(use_regex=None), vocab=1000, old_file=True,
         post_processor=byte_level(trim=False, use_regex=None),
         added=(Added("<|endoftext|>", normalized=True),)),
    Form("gpt2_prefix", "GPT-2 with a space before each text and a beginning and end token",
         byte_level(prefix=True), vocab=700,
         post_processor=post_sequence(byte_level(prefix=True, trim=False),
                                      template("<s>", "$A", "</s>")),
         added=specials("<s>", "</s>") + plain("<sep>"), added_first=True),
    Form("llama3", "Llama 3, DBRX",
         pre_sequence(split(LLAMA3), byte_level(use_regex=False)), vocab=1500,
         ignore_merges=True, drop_merges=9, added=LLAMA3_ADDED,
         post_processor=post_sequence(byte_level(prefix=True, trim=False),
                                      template("<|begin_of_text|>", "$A"))),
    Form("qwen2", "Qwen2-MoE, Qwen3-MoE",
         pre_sequence(split(QWEN2), byte_level(trim=False, use_regex=False)), vocab=1000,
         normalizer=NFC, merges_as_pairs=True,
         post_processor=byte_level(trim=False, use_regex=False),
         added=specials("<|endoftext|>", "<|im_start|>", "<|im_end|>")
         + plain("<tool_call>", "</tool_call>", "<think>", "</think>")),
    Form("deepseek3", "DeepSeek-V3",
         pre_sequence(split(r"\p{N}{1,3}"), split(CJK3), split(DEEPSEEK3),
                      byte_level(use_regex=False)), vocab=1000,
         normalizer={"type": "Sequence", "normalizers": []},
         post_processor=template("<｜begin▁of▁sentence｜>", "$A"), added_first=True,
         added=specials("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>")
         + plain("<｜User｜>", "<｜Assistant｜>", "<｜fim▁hole｜>")),
    Form("deepseek2", "DeepSeek-V2",
         pre_sequence(split(r"[\r\n]"), split(LETTERS2), split(PUNCTUATION2), split(r"\s+$"),
                      split(CJK2), digits(True), byte_level(use_regex=False)), vocab=1000,
         normalizer={"type": "Sequence", "normalizers": []},
         post_processor=byte_level(trim=False),
         added=specials("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>")
         + plain("<|EOT|>", "<｜fim▁begin｜>", normalized=True)),
    Form("o200k", "GPT-OSS, Llama 4, MiniMax",
         pre_sequence(split(O200K), byte_level(use_regex=False)), vocab=1000,
         ignore_merges=True, merges_as_pairs=True, drop_merges=7,
         post_processor=template("<|startoftext|>", "$A"),
         added=specials("<|startoftext|>", "<|endoftext|>", "<|return|>", "<|channel|>",
                        "<|start|>", "<|end|>", "<|message|>")),
    Form("starcoder", "StarCoder, Granite-MoE",
         pre_sequence(digits(True), byte_level()), vocab=800,
         post_processor=byte_level(prefix=True),
         added=specials("<|endoftext|>", "<fim_prefix>", "<fim_middle>", "<fim_suffix>",
                        "<reponame>"), added_first=True),
    Form("neox", "OLMoE, GPT-NeoX", byte_level(), vocab=800, normalizer=NFC,
         post_processor=template("$A", "<|endoftext|>"),
         added=(Added("<|endoftext|>"), Added("<|padding|>")) + SPACE_RUNS
         + plain("|||EMAIL_ADDRESS|||", "|||IP_ADDRESS|||")),
    Form("falcon", "Falcon: pre-tokenizers that see the text before and after the byte mapping",
         pre_sequence({"type": "Punctuation", "behavior": "Contiguous"}, byte_level(),
                      digits(False), split("[0-9][0-9][0-9]")), vocab=1000,
         added=specials(">>TITLE<<", ">>ABSTRACT<<", "<|endoftext|>"), added_first=True),
    Form("added", "every flag of an added token, overlapping names, NFC",
         byte_level(), vocab=400, normalizer=NFC, post_processor=byte_level(),
         added=specials("<s>", "<sp>", "<s><s>", "<|a|>", "<|a|><|b|>", "<|b|>", "[中文]", "🚀go")
         + (Added("<mask>", lstrip=True), Added("<right>", rstrip=True),
            Added("<both>", lstrip=True, rstrip=True), Added("<word>", single_word=True),
            Added("<lword>", single_word=True, lstrip=True))
         + plain("tok", "token", "tokens", single_word=True)
         + plain("pressure", "press") + plain("é", "ﬁn", "Å", normalized=True)
         + plain("<é>", "ñ", "e\u0301e")
         + plain("  ", "\n\n", "\t", "<nl>\n") + plain("123", "12")
         + plain("left", lstrip=True, normalized=True) + plain("right", rstrip=True)),
    Form("splits", "every behaviour of Split, in order on different characters",
         pre_sequence(split("-", "MergedWithPrevious", kind="String"),
                      split("#", "MergedWithNext", kind="String"),
                      split("~+", "Removed"),
                      split("[0-9]", "Contiguous"),
                      split("::", "Isolated", kind="String"),
                      split(".*", "Isolated", kind="String"),
                      split(r"[,;]\s*", "MergedWithPrevious"),
                      split(r"[<(\[]", "MergedWithNext"),
                      byte_level(use_regex=False)), pairs=SPLIT_CHARACTERS, merges_as_pairs=True),
    Form("splits_inverted", "Split with invert: the pieces are what the pattern does not match",
         pre_sequence(split(r"\p{L}+| ", "Isolated", invert=True),
                      split(r"[^=]+", "MergedWithPrevious", invert=True),
                      split(r"[^@]+", "MergedWithNext", invert=True),
                      split(r"[^~]+", "Removed", invert=True),
                      split(r"[^\r\n]+", "Contiguous", invert=True),
                      byte_level(use_regex=False)), pairs=SPLIT_CHARACTERS),
    Form("digits_runs", "Digits that keep runs, then an isolated space; no post-processor",
         pre_sequence(digits(False), split(" ", kind="String"), byte_level(use_regex=False)),
         vocab=800, post_processor=template("<bos>", "$A", "<eos>", "<eos>"),
         added=specials("<bos>", "<eos>"), added_first=True),
    Form("text600", "the tokenizer of the golden checkpoint text_bf16",
         pre_sequence(split(LLAMA3), byte_level(use_regex=False)), vocab=598,
         post_processor=template("<bos>", "$A"), added=specials("<bos>", "<eos>"),
         added_first=True, merges_as_pairs=True, whole_lines=False),
    Form("llama2", "Llama 2, Mixtral", None, vocab=1100, normalizer=MARK_FIRST,
         decoder=text_decoder(1), unknown="<unk>", fuse_unknown=True, bytes_until=256,
         post_processor=template("<s>", "$A"), added=specials("<unk>", "<s>", "</s>"),
         added_first=True),
    Form("mistral3", "Mistral v0.3: Metaspace on the first text only, unsplit",
         metaspace("first", split=False), vocab=1100, decoder=text_decoder(1),
         unknown="<unk>", fuse_unknown=True, bytes_until=256, merges_as_pairs=True,
         post_processor=template("<s>", "$A"), added_first=True,
         added=specials("<unk>", "<s>", "</s>", "[INST]", "[/INST]")
         + plain("[TOOL_CALLS]", normalized=True)),
    Form("gemma", "Gemma: no space in front, split behind spaces that are no longer there",
         split(" ", "MergedWithPrevious", kind="String"), vocab=1100, normalizer=REPLACE_SPACES,
         decoder=text_decoder(0), unknown="<unk>", fuse_unknown=True, bytes_until=256,
         post_processor=template("<bos>", "$A"), added_first=True,
         added=specials("<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>")
         + plain("\n\n", "  ", "\t\t")),
    Form("metaspace_always", "Metaspace before every text, split; unknown characters one by one",
         metaspace("always", str_rep=MARK, add_prefix_space=True), vocab=900,
         decoder=metaspace("always"), unknown="[UNK]",
         post_processor=template("$A", "[SEP]"), added_first=True,
         added=specials("[UNK]", "[SEP]") + plain("<a>", rstrip=True)),
    Form("metaspace_first", "Digits, then Metaspace on the piece that begins the text; NFC",
         pre_sequence(digits(True), metaspace("first")), vocab=900, normalizer=NFC,
         decoder=metaspace("first"), unknown="[UNK]", fuse_unknown=True, added_first=True,
         added=specials("[UNK]") + plain("<a>", lstrip=True) + plain("<b>", normalized=True)),
    Form("metaspace_never", "Metaspace without a space in front; two spaces stripped; some bytes",
         metaspace("never", split=False), vocab=900, decoder=text_decoder(2),
         unknown="<unk>", bytes_until=0xE4, added_first=True,
         added=specials("<unk>", "</s>") + plain("▁▁")),
)
