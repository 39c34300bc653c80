#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a model of a real shape with made-up weights, whose routing is as skewed and sticky as that of real ones.

    make.py SHAPE TYPE FILE.gguf [--layers N] [--colibri PATH]

Beside it comes FILE.ids: ids that show this routing. With --colibri it says the figures that the model reaches on them."""

import argparse
import dataclasses
from pathlib import Path

import figures
import gguf_model
import routing
from shapes import SHAPES, TYPES

IDS = 2048


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("type", choices=TYPES)
    parser.add_argument("file", type=Path)
    parser.add_argument("--layers", type=int, help="layers, if not those of the shape")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--colibri", type=Path, help="the program to measure the routing with")
    options = parser.parse_args()
    shape = SHAPES[options.shape]
    shape = dataclasses.replace(shape, layers=options.layers or shape.layers)
    gguf_model.write(shape, options.type, options.file, options.seed,
                     routing.Routing(shape.experts, shape.top_k, shape.layers, options.seed))
    ids = options.file.with_suffix(".ids")
    ids.write_text(" ".join(map(str, routing.ids(shape.vocabulary, IDS, options.seed))) + "\n", encoding="ascii")
    print(f"{options.file}: {options.file.stat().st_size / 1e9:.2f} GB, {shape.layers} layers")
    if options.colibri:
        print(figures.of(options.colibri, options.file, ids))


if __name__ == "__main__":
    main()
