#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How skewed and sticky a model's routing is on given ids, by a route trace of colibri.

    figures.py COLIBRI MODEL IDS [--tokens N]"""

import argparse
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean


def record(colibri: Path, model: Path, ids: Path, tokens: int, trace: Path) -> None:
    """Token by token, in a quarter of the memory that the experts would take."""
    subprocess.run([colibri, "bench", model, "--ids", ids, "-p", "1", "-n", str(tokens - 1), "-r", "1", "--warmup", "0",
                    "--set", "experts.budget=25%", "--route-trace", trace, "--json"], check=True, stdout=subprocess.DEVNULL)


def visits(trace: Path) -> tuple[int, dict[int, list[set[int]]]]:
    """Experts of a layer, and for each layer the experts of token after token."""
    head, layers = {}, defaultdict(list)
    with trace.open(encoding="ascii") as lines:
        next(lines)
        for line in lines:
            name, *values = line.split()
            if not name.isdigit():
                head[name] = int(values[0])
                continue
            layers[int(values[0])] += [set(map(int, token.split(","))) for token in values[1:]]
    return head["experts"], layers


def skew(tokens: list[set[int]], experts: int) -> float:
    uses = Counter(expert for token in tokens for expert in token)
    return sum(n for _, n in uses.most_common(experts // 4)) / uses.total()


def shared(tokens: list[set[int]]) -> float:
    return mean(len(now & before) / len(now) for before, now in zip(tokens, tokens[1:]))


def text(trace: Path) -> str:
    experts, layers = visits(trace)
    skews = [skew(tokens, experts) for tokens in layers.values()]
    shares = [shared(tokens) for tokens in layers.values()]
    return (f"routing over {len(layers[0])} tokens, {len(layers)} layers (least to most of a layer):\n"
            f"  a quarter of the experts takes {mean(skews):.0%} of the choices ({min(skews):.0%} to {max(skews):.0%})\n"
            f"  a token shares {mean(shares):.0%} of a layer's experts with the one before "
            f"({min(shares):.0%} to {max(shares):.0%})")


def of(colibri: Path, model: Path, ids: Path, tokens: int = 512) -> str:
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        record(colibri, model, ids, tokens, trace)
        return text(trace)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("colibri", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("ids", type=Path)
    parser.add_argument("--tokens", type=int, default=512)
    options = parser.parse_args()
    print(of(options.colibri, options.model, options.ids, options.tokens))


if __name__ == "__main__":
    main()
