# SPDX-License-Identifier: Apache-2.0
"""Writes the sample log of an exported folder and its right answers; fails if the model errs on it.

    python make_sample.py FOLDER

The log has a test seed beyond those of make_test_set.py.
"""

import sys
from pathlib import Path

from evaluate import greedy_answers, load
from log_generator import LANGUAGES, TEST_SEED, make_example

SAMPLE_SEED = TEST_SEED + 1_000_613


def main(folder: Path) -> None:
    model, tokenizer = load(folder)
    for lang in LANGUAGES:
        example = make_example(SAMPLE_SEED, lang=lang)
        # The file ends with a newline, and so does the log that a pipeline reads from it.
        prompt = example.prompt.replace("\n<|summary|>", "\n\n<|summary|>")
        (got,) = greedy_answers(model, tokenizer, [prompt])
        if got != example.answer:
            sys.exit(f"wrong answer: {got}\n     instead of: {example.answer}")
        (folder / "sample_log.txt").write_text(example.log + "\n", encoding="utf-8")
        (folder / f"sample_log.expected.{lang}.txt").write_text(example.answer + "\n",
                                                                 encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
