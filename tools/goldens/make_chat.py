#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Conversations rendered by transformers' apply_chat_template with the templates of tests/golden/chat/templates.

    make_chat.py    writes tests/golden/chat/{conversations.json,renderings.jsonl}

Each template with each conversation, and each conversation's options in turn. What transformers refuses is "an error"."""
import json
from pathlib import Path

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from chat import jinja  # noqa: F401  (fixes the date)
from chat.conversations import CONVERSATIONS, OPTIONS

FOLDER = Path(__file__).resolve().parents[2] / "tests/golden/chat"


def options_of(number, conversation):
    """Plain for all; of the others two, in turn, and tools wherever there are calls."""
    names = list(OPTIONS)
    chosen = {"plain", names[1 + number % 5], names[1 + (number + 2) % 5]}
    if any("tool_calls" in message for message in conversation):
        chosen.add("tools")
    return [name for name in names if name in chosen]


def main():
    # The tokenizer only carries the special tokens; nothing is tokenized.
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), bos_token="<s>", eos_token="</s>")
    lines, errors, number = [], 0, 0
    for path in sorted((FOLDER / "templates").glob("*.jinja")):
        template = path.read_text(encoding="utf-8")
        for name, conversation in CONVERSATIONS.items():
            number += 1
            for option in options_of(number, conversation):
                case = {"template": path.stem, "conversation": name, "options": option}
                try:
                    case["output"] = tokenizer.apply_chat_template(conversation, chat_template=template, tokenize=False, **OPTIONS[option])
                except Exception as error:
                    case["error"] = f"{type(error).__name__}: {error}"[:100]
                    errors += 1
                lines.append(json.dumps(case))
    (FOLDER / "renderings.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")
    data = {"special_tokens": {"bos_token": "<s>", "eos_token": "</s>"}, "conversations": CONVERSATIONS, "options": OPTIONS}
    (FOLDER / "conversations.json").write_text(json.dumps(data, indent=1) + "\n", encoding="ascii")
    print(len(lines), "renderings,", errors, "of them errors")


if __name__ == "__main__":
    main()
