# SPDX-License-Identifier: Apache-2.0
"""The texts that the golden tokenizers encode, by group, and the rule for long ones."""

import random
import unicodedata

import corpus
from tokenizer_forms import SPLIT_CHARACTERS

CODE = (
    'int main(int argc, char** argv) {\n\tfor (int i = 0; i < argc; ++i)\n\t\tprintf("%s\\n", argv[i]);\n\treturn 0;\n}\n',
    "def f(x, *args, **kwargs):\n    '''It's a docstring.'''\n    return x[::-1] if x else None  # TODO\n\n\nclass A(B): pass\n",
    "#include <vector>\ntemplate<class T> using V=std::vector<T>;//comment\n/* a\n * b\n */\n",
    '{"key": [1, 2.5e-10, null, true], "nested": {"a\\u00e9": "\\"quoted\\""}}',
    "const re = /^\\s*(?:[a-z_$][\\w$]*)\\s*=>/gi;\r\nlet x = `${a}+${b}`;\r\n",
    "SELECT * FROM t WHERE a<>b AND c LIKE '%x_%' -- note\n;",
    "x=1;y =2; z= 3;\n\n\n\n    if(x==y){\n        z+=1;\n    }\n  \n",
    "make -j$(nproc) 2>&1 | tee build.log && echo \"done: $?\"",
    "a->b.c::d<e>(f&&g||!h)?i:j; k<<=2; l>>=3; m^=~n; o%=p;",
    "<p class='x'>&lt;tag&gt; &amp; &#x1F600;</p><!-- c -->",
    "snake_case camelCase PascalCase SCREAMING_CASE kebab-case dotted.name HTTPServer2XMLParser iPhone15Pro",
    "0xDEADBEEF 0b1010 0o777 1_000_000 3.14f 1e-9L 'c' L\"wide\" R\"(raw)\"",
    "| a | b |\n|---|:-:|\n| 1 | **2** |\n\n# Title\n\n- [ ] item `code`\n> quote\n",
)
PROSE = corpus.PROSE + (
    "I'm sure they'd've said it's OURS; WE'LL see what he'S got, won't we? 'Tis the '90s, y'all're late.",
    "don't DON'T Don’t can't've 're 'll 'S'T 'ſ 'ẞ 'K",
    "naïve café résumé Ångström ﬁnal ﬂow ĳs Ǆ ǅ ǆ İstanbul ıslak ßẞ ΣΊΣΥΦΟΣ",
    "Camel\u00adhyphen soft\u00adened zero\u200bwidth non\u2060breaking joi\u200dned bom\ufeffinside",
    "“Smart quotes” ‘single’ «guillemets» „low“ — em–en… • bullet ™ © ® § ¶ † ‡",
)
CJK = (
    "你好，世界！", "今天温度是25.5℃，湿度60％。", "東京都千代田区１丁目２−３", "ひらがなカタカナ漢字ｶﾀｶﾅー・",
    "가나다라 ㄱㄴㄷ 한글과 English 섞기", "中文English混合text测试123数字", "「引用」『本』（括号）【标题】〈x〉《书》、。・…‥",
    "中ab中ab中ab", "ー中ーa。中。a", "㍿㎏㏄①②③ⅣⅫ㈱", "𠮷野家で𩸽を食べる", "繁體中文與简体中文", "々〆〇ヶ゛゜ゝゞ", "\u3000\u3000全角空格\u3000中间\u3000",
    "ㄅㄆㄇㄈ ㄓㄔㄕ", "龥龦一㐀\ud7a3\ud7b0ힰ", "ﾊﾟﾋﾟ ｱｲｳｴｵ", "漢\u0301字\ufe00葛\U000e0100",
)
EMOJI = (
    "😀😃😄😁", "👩‍👩‍👧‍👦 family", "👍🏻👍🏼👍🏽👍🏾👍🏿", "🏳️‍🌈🏴‍☠️🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🇩🇪🇫🇷🇨🇳🇯🇵🇺🇸🇩", "❤️❤🩹❤️‍🔥", "1️⃣2️⃣#️⃣*️⃣",
    "text😀text 😀 text😀\n😀", "☀☁☂★☆♠♣♥♦", "🧑🏽‍💻 writes 🐛🔨", "🚀go🚀 go🚀go", "™️ ℹ️ ↔️ ⏩", "😀" * 9,
)
MARKS = (
    "e\u0301", "é e\u0301 \u00e9\u0301", "A\u030a Å Å", "o\u0302\u0301 ộ o\u0323\u0302 ộ", "\u0301leading", "a\u0301\u0301\u0301\u0301b",
    "q\u0307\u0323 q\u0323\u0307", "ḍ\u0307 d\u0323\u0307", "\u1100\u1161\u11a8 각", "\u0915\u093c क़ \u0958", "ש\u05c1\u05bc שּׁ",
    "Ω Ω K K", "ﬁn fin ﬁn", "\u0344 \u0308\u0301", "\u2126\u212b", "i\u0307 İ ı\u0307", "\u0e40\u0e01\u0e33 \u0e4d\u0e32", "ᾳ ᾼ \u1fbe",
    "x\u20ddy z\u0489", "Z\u0351\u036bA\u0343\u036aL\u0342\u036bG\u0321\u0350O\u0333",
)
SPACE = (
    "", " ", "  ", "   ", "\t", "\n", "\r\n", "\r", "\n\n", "\n\n\n  ", " \n", "\n ", "  a", "a  ", " a ", "a  b", "a   b", "a\tb",
    "a\t\tb", "\ta", "a\t", "a \tb", "a\n\nb", "a \n b", "a  \n\n  b", "a\r\nb\r\n", "a\r\r\nb", "\u00a0", "a\u00a0b", "a \u00a0 b",
    "\u3000", "a\u3000b \u3000c", "\u2003\u2002x\u2009y", "a\u2028b\u2029c", "\u0085x \u0085 y", "a\u000bb\u000cc", "\u1680x\u202fy\u205fz",
    "a\u200bb \u200b c", "\u180ea \u180e b", "\ufeffa", "x" + " " * 17 + "y", "\n" * 17, "\t" * 9 + "x", " " * 33, "x \t\n \r\n\tz  ",
    "😀  " * 9, "😀  \n😀  ", "😀   ", "٪  \n",
    "    four\n        eight\n            twelve\n\tend", "trailing \nspaces  \nhere   \n",
)
CONTROL = (
    "\0", "a\0b", "\0\0 \0", "\x01\x02\x03", "\x1b[31mred\x1b[0m", "\x7f\x80\x9f", "bell\x07back\x08", "\x1c\x1d\x1e\x1f x\x1fy",
    "\u00ad\u0600\u06dd", "\u200e\u200f\u202a\u202ex\u202c", "\ufffd\ufffe\uffff", "\U0010ffff\U0001fffe", "\ue000\U000f0000",
    "\u0378\u0379", "\u2066a\u2069",
)
RTL = (
    "مرحبا بالعالم", "שלום עולם!", "العدد ١٢٣٫٤٥ و 678", "abc אבג 123 דהו", "لا ﷲ ﻼ", "السَّلَامُ عَلَيْكُمْ", "a\u200fب\u200ec", "۱۲۳ ٪",
)
NUMBERS = (
    "0", "7", "42", "123", "1234", "12345", "123456", "1234567", "12345678901234567890", "3.14159", "1,234,567.89", "1e10", "-5", "+49 30 1234-567",
    "1st 2nd 3rd", "v1.2.3-rc4", "12:34:56", "2031-01-31", "½ ¾ ² ³ ¹", "१२३ ४५", "Ⅷ ⅷ", "１２３４", "٣٤٥", "𝟏𝟐𝟑", "a1b22c333d4444", "100%", "€5.00 £3 ¥9", "1 2  3   4",
    "000 001 0001", "10²³ m³", "一二三123四五", "九 ㈠ ⑴",
)
LINKS = (
    "https://www.example.org/path/to/page.html?q=a+b&c=%20d#frag", "mailto:first.last+tag@sub.example.com", "ftp://user:pass@10.0.0.1:21/",
    "C:\\Program Files\\x\\y.exe", "/usr/local/lib/libx.so.1.2", "git@host:a/b.git", "www.пример.рф/путь", "a//b///c\n//d/",
)
PUNCTUATION = (
    "!", "...", "?!?!", "a.b,c;d:e", "((()))[[]]{{}}", "-- --- ----", "***bold***", "___", "~~~ ~x~ ~~~~", "#a ##b ###", "a-b-c--d-", "::a::b:::c", ".*x.*.*", "a, b;c ,d",
    "<(x)>[y](z)", "a=b==c===d", "@a@@b@", "$$$ ^^^ ```", "\"\"''", "\\\\ \\n \\t", "||a|| &&b&&", "/* */ // ///", ".\n,\n!\r\n", "?\n\n?", " . , ; ", "¿Qué? ¡No!",
    "。，！？", "a!\n\nb", "x/\n/y", "-", "#", "=", "~", "@", "()", "a~b", "100-200#3~4", "日-本#語~。",
    "a.*b0.*1 .*a.*=.*b", "::::a::::b::0::a:::b", ".*.*a.*.*.*b.*.*.*.*a", "b.*::.*a::.*::b",
)
WORDS = (
    "a", "A", "z", "é", "中", "😀", "the", " the", "The", "THE", "thethe", "pressure", " pressure", "Pressure sensor", "unbelievableness", "Donaudampfschifffahrtsgesellschaft",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abababababababababab", "xyzzyxyzzy", "AbCdEfGhIj", "ÀÉÎÕÜ", "ПРИВЕТ привет", "ΑΒΓ αβγ", "ⅣⅫ", "ªº", "ʰʷ", "ƻǀǃ", "𝒳𝓎𝔷", "Ⓐⓑ", "ꙀꙁꚀ",
    "token tokens tokenizer untoken token.", "press pressure presses express",
)
GROUPS = {"code": CODE, "prose": PROSE, "cjk": CJK, "emoji": EMOJI, "marks": MARKS, "space": SPACE,
          "control": CONTROL, "rtl": RTL, "numbers": NUMBERS, "links": LINKS,
          "punctuation": PUNCTUATION, "words": WORDS}


def around_added(tokens: list[str], seed: int) -> list[str]:
    """Texts with added tokens beside punctuation, white space, words, marks and each other."""
    texts = []
    for token in tokens:
        texts += [token, f" {token} ", f"a{token}b", f"({token}),{token}!", token * 3,
                  f"  {token}\n\n{token}\t", token[:-1], token[1:] + token]
    neighbours = ["", "", " ", "  ", "\n", "\t", ".", ",", "a", "Z", "7", "_", "é", "\u0301", "中", "😀", "the",
                  "'s", "\u00a0", "-", "<", ">", "|", "\r\n", "tokens", " pressure"]
    rng = random.Random(seed)
    for _ in range(40 if tokens else 0):
        texts.append("".join(rng.choice(neighbours) + rng.choice(tokens)
                             for _ in range(rng.randrange(2, 6))) + rng.choice(neighbours))
    return texts


def random_texts(seed: int, count: int) -> list[str]:
    """Strings of assigned characters (Unicode 14), in turn from any script, from the characters on
    which published pre-tokenizers decide, and from those of the forms splits*."""
    rng = random.Random(seed)
    decisive = list(" \n\r\t\u00a0\u3000\u0085\u2028'sStTdDmMrReEvVlL019½²Ⅳ٣.,-_/!?#~=@(<[{:;*\"中の한ée\u0301ßſǅʰªא😀\u200d\ufe0f")
    texts = []
    for number in range(count):
        if number % 3:
            characters = decisive if number % 3 == 1 else SPLIT_CHARACTERS
            text = "".join(rng.choice(characters) for _ in range(rng.randrange(1, 50)))
        else:
            text = ""
            while len(text) < 24:
                c = chr(rng.choice([rng.randrange(0x20, 0x3000), rng.randrange(0x20, 0x20000)]))
                if unicodedata.category(c) not in ("Cn", "Cs", "Co"):
                    text += c
        texts.append(text)
    return texts


# Long inputs are not stored: they follow from a rule (tests/golden/README.md).
FRAGMENTS = {
    "mixed": [" the", " pump", " stopped", ".", ",", "\n", "\n\n", " ", "  ", "\t", "'s", " it's", " 42", "1234567", " x_1", "();\n", " {", "}",
              " https://a.b/c?d=e", " größer", " café", " e\u0301", "привет ", "水泵停机了", "。", "コード", " 한국어", " مرحبا", "😀", "👩‍👧",
              " --", "==", "\r\n", "\u00a0", "\u3000", "Σ", " VALUE", " camelCase", "0x1F", " 3.14"],
    "letters": list("abcdefghijklmnopqrstuvwxyz"),
    "spaces": [" ", "  ", "\n", "\t", "\r\n", "   "],
    "cjk": list("三号车间的水泵停机了因为压力传感器报告一个不可能数值"),
}
RULES = (
    {"fragments": "mixed", "seed": 1, "min_bytes": 1 << 20},
    {"fragments": "letters", "seed": 2, "min_bytes": 5000},
    {"fragments": "letters", "seed": 3, "min_bytes": 65536},
    {"fragments": "spaces", "seed": 4, "min_bytes": 5000},
    {"fragments": "cjk", "seed": 5, "min_bytes": 65536},
)


def text_of_rule(rule: dict) -> str:
    pieces, state, size, text = FRAGMENTS[rule["fragments"]], rule["seed"], 0, []
    while size < rule["min_bytes"]:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        piece = pieces[(state >> 33) % len(pieces)]
        text.append(piece)
        size += len(piece.encode())
    return "".join(text)
