# SPDX-License-Identifier: Apache-2.0
"""Writes the test set: 500 English and 500 Chinese examples, one JSON object a line.

    python make_test_set.py FILE.jsonl
"""

import dataclasses
import json
import sys

from log_generator import TEST_SEED, make_example

COUNT = 1000


def main(path: str) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        for seed in range(TEST_SEED, TEST_SEED + COUNT):
            out.write(json.dumps(dataclasses.asdict(make_example(seed)), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
