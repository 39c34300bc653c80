# SPDX-License-Identifier: Apache-2.0
"""Makes controller logs and the one right summary of each, from a seed.

A line is `LEVEL HH:MM:SS DEVICE message [value unit]`, times never go backwards. The root cause is
the first FAULT line: what comes before it are ordinary events and warnings, some of which use the
words of other faults, and what follows may hold further FAULT and ALARM lines of other devices.
"""

import random
import re
from dataclasses import dataclass

from faults import ALARM_LINES, DEVICE_CLASSES, FAULTS, INFO_LINES, WARN_LINES, Fault

LANGUAGES = ("en", "zh")
MIN_LINES, MAX_LINES = 5, 24
MAX_TOKENS = 512  # prompt, answer and <|end|> together
MAX_LOG_TOKENS = MAX_TOKENS - 52  # the longest answer and the special tokens are less than 52

# First seed of each set; each owns the thousand million seeds from there on.
TRAIN_SEED, VALIDATION_SEED, TEST_SEED = 0, 1_000_000_000, 2_000_000_000


@dataclass(frozen=True)
class Example:
    lang: str
    log: str
    answer: str

    @property
    def prompt(self) -> str:
        return f"<|{self.lang}|>\n{self.log}\n<|summary|>"


def _message(rng: random.Random, phrasing: str) -> str:
    text, _, value = phrasing.partition(" | ")
    if not value:
        return text
    low, high, *unit = value.split()
    return " ".join([text, str(rng.randint(int(low), int(high))), *unit])


def _tag(rng: random.Random, device_class: str) -> str:
    return f"{device_class}-{rng.randint(1, 99):02d}"


def _fault_line(rng: random.Random, fault: Fault) -> tuple[str, str]:
    return _tag(rng, rng.choice(fault.devices)), _message(rng, rng.choice(fault.phrasings))


def _said_by(tag: str, lines: dict[str, str]) -> list[str]:
    return [text for text, classes in lines.items() if not classes or tag[:3] in classes]


def _side_line(rng: random.Random, tags: list[str], after_root: bool) -> tuple[str, str, str]:
    """A line that is not the root cause, as (level, tag, message)."""
    draw = rng.random()
    if draw < (0.10 if after_root else 0.0):
        return "FAULT", *_fault_line(rng, rng.choice(FAULTS))
    if draw < 0.28:
        return "WARN", *_fault_line(rng, rng.choice(FAULTS))
    tag = rng.choice(tags)
    if draw < 0.40:
        return "WARN", tag, _message(rng, rng.choice(_said_by(tag, WARN_LINES)))
    if draw < (0.60 if after_root else 0.44):
        return "ALARM", tag, _message(rng, rng.choice(ALARM_LINES))
    return "INFO", tag, _message(rng, rng.choice(_said_by(tag, INFO_LINES)))


def _token_count(line: str) -> int:
    """Tokens of a line and its newline: each word, digit and run of marks of a log is one, and so
    is the space before a digit."""
    return 1 + len(re.findall(r" ?[A-Za-z]+| ?[^\sA-Za-z0-9]+|[0-9]| (?=[0-9])", line))


def _clock(seconds: int) -> str:
    return f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def answer(lang: str, fault: Fault, tag: str, time: str) -> str:
    if lang == "en":
        return f"Cause: {fault.cause_en}. Device {tag}, time {time}. Action: {fault.action_en}."
    return f"原因：{fault.cause_zh}。设备 {tag}，时间 {time}。措施：{fault.action_zh}。"


def make_example(seed: int, min_lines: int = MIN_LINES, max_lines: int = MAX_LINES,
                 lang: str | None = None) -> Example:
    """The example of a seed: the same one always. Training may ask for shorter logs. The log does
    not depend on `lang`, which even and odd seeds choose if it is not given."""
    rng = random.Random(seed)
    lang = lang or LANGUAGES[seed % 2]
    count = rng.randint(min_lines, max_lines)
    root_at = rng.randrange(count)
    root = rng.choice(FAULTS)
    root_tag, root_message = _fault_line(rng, root)
    tags = [root_tag] + [_tag(rng, rng.choice(DEVICE_CLASSES)) for _ in range(5)]

    now = rng.randrange(24 * 3600 - MAX_LINES * 40)
    lines = []
    for i in range(count):
        if i == root_at:
            root_time = _clock(now)
            level, tag, message = "FAULT", root_tag, root_message
        else:
            level, tag, message = _side_line(rng, tags, i > root_at)
        lines.append(f"{level} {_clock(now)} {tag} {message}")
        now += rng.choice((0, 1, 1, 2, 3, 5, 8, 13, 21, 40))
    while sum(map(_token_count, lines)) > MAX_LOG_TOKENS:
        lines.pop(0 if lines[-1].startswith(f"FAULT {root_time} {root_tag}") else -1)
    return Example(lang, "\n".join(lines), answer(lang, root, root_tag, root_time))


if __name__ == "__main__":
    import sys

    example = make_example(int(sys.argv[1]) if len(sys.argv) > 1 else TEST_SEED)
    print(example.prompt + example.answer)
