#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/cache-policies.md: hits of each policy in percent, and how many points below Belady's optimum that is.

    policy_table.py COLIBRI [--traces FOLDER]
    policy_table.py COLIBRI TRACE...

Without traces it makes them, and keeps them in FOLDER: TOKENS tokens, one by one, of every shape, the experts of a narrow
inner width, which choose as wide ones do. Behind the table: how far the default policy is from lru and from the best."""

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path

POLICIES = ("lru", "lfu", "s3fifo", "arc")  # pinned depends on its list
BUDGETS = ("10%", "25%", "40%", "60%", "75%")
TOKENS = 1024
INNER = 64
SCHEMA = Path(__file__).resolve().parents[2] / "configs/schema/pipeline.schema.json"


def make_traces(colibri: Path, folder: Path) -> list[Path]:
    """Always the same: gguf_model and routing have fixed seeds."""
    import figures  # here, because only these need packages
    import gguf_model
    import routing
    from shapes import SHAPES

    traces = []
    for name, shape in SHAPES.items():
        traces.append(folder / name)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            model, ids = Path(made) / "model.gguf", Path(made) / "ids"
            narrow = dataclasses.replace(shape, inner=INNER)
            gguf_model.write(narrow, "q4_0", model, routing=routing.Routing(shape.experts, shape.top_k, shape.layers))
            ids.write_text(" ".join(map(str, routing.ids(shape.vocabulary, TOKENS))) + "\n", encoding="ascii")
            figures.record(colibri, model, ids, TOKENS, traces[-1])
    return traces


def default_policy() -> str:
    experts = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]["experts"]
    return experts["properties"]["policy"]["properties"]["plugin"]["default"]


def replay(colibri: Path, trace: Path) -> list[dict]:
    done = subprocess.run([colibri, "cache", "replay", trace, "--json", "--policies", ",".join(POLICIES),
                           "--budgets", ",".join(BUDGETS)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"colibri cache replay {trace} failed with exit {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)["points"]


def row(first: str, point: dict) -> str:
    most = round(100 * point["belady"]["hit_rate"], 1)
    rates = [round(100 * point["policies"][policy]["hit_rate"], 1) for policy in POLICIES]
    cells = [f"{rate:.1f} ({rate - most:.1f})" for rate in rates]
    return f"| {first}{'*' if point['guarded'] else ''} | {' | '.join(cells)} | {most:.1f} |"


def verdict(default: str, point: dict) -> str:
    rates = {policy: 100 * point["policies"][policy]["hit_rate"] for policy in POLICIES}
    best = max(rates, key=rates.get)
    near = "yes" if rates[default] >= rates["lru"] - 1 else "NO"
    return (f"{point['budget'].replace('%', ' %')}: the default, {default}, at most 1 point below lru: {near}; "
            f"below the best, {best}: {rates[best] - rates[default]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("colibri", type=Path)
    parser.add_argument("traces", type=Path, nargs="*", metavar="TRACE")
    parser.add_argument("--traces", type=Path, dest="folder", metavar="FOLDER", help="where the traces are kept")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as passing:
        folder = options.folder or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        points = {trace.name: replay(options.colibri, trace)
                  for trace in options.traces or make_traces(options.colibri, folder)}
    print(f"| shape, budget | {' | '.join(POLICIES)} | belady |\n|{'---|' * (len(POLICIES) + 2)}")
    for name, of_trace in points.items():
        for i, point in enumerate(of_trace):
            budget = point["budget"].replace("%", " %")
            print(row(budget if i else f"{name}, {budget}", point))
    print()
    for name, of_trace in points.items():
        for point in of_trace:
            print(f"{name}, {verdict(default_policy(), point)}")


if __name__ == "__main__":
    main()
