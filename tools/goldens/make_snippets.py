#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small pieces of template and what Jinja makes of them, with transformers' settings.

    make_snippets.py    writes tests/golden/chat/snippets.jsonl

One JSON object a line: the template, and its output, or an error if Jinja raises one (in compiling or in rendering)."""
import json
from pathlib import Path

from chat.jinja import compile_template
from chat.snippets import SNIPPETS, VARIABLES

FOLDER = Path(__file__).resolve().parents[2] / "tests/golden/chat"


def outcome(template):
    try:
        return {"output": compile_template(template).render(**VARIABLES)}
    except Exception as error:  # whatever Jinja or Python raises is "an error" here
        return {"error": f"{type(error).__name__}: {error}"[:100]}


def main():
    lines = [json.dumps({"variables": VARIABLES})]
    seen = set()
    for template in SNIPPETS:
        assert template not in seen, f"twice: {template}"
        seen.add(template)
        lines.append(json.dumps({"template": template, **outcome(template)}))
    (FOLDER / "snippets.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")
    print(len(SNIPPETS), "snippets,", sum('"error"' in line for line in lines), "of them errors")


if __name__ == "__main__":
    main()
