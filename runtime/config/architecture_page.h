// SPDX-License-Identifier: Apache-2.0
// The head of docs/architectures.md.
#pragma once

#include <string_view>

namespace colibri::config {

inline constexpr std::string_view kArchitecturePage = R"(# Architecture documents

An architecture document says how the models of a family compute and what their checkpoints call
things, so that a new family needs no C++. `configs/architectures/mixtral.yaml` is a whole one. The
documents of `share/colibri/architectures` are known by name; a pipeline may also name a file
(`model.architecture`).

A *vocabulary* is the names that one kind of checkpoint uses: `hf` for Hugging Face folders, `gguf`
for GGUF files. `match` names the vocabularies of a document; `dims` and `tensors` have a part for
each of them. `match` and `require` list values of metadata keys; `{ not: [...] }` lists those that
a key must not have, and null is also a key that is not there.

## Expressions

Where a value is called an expression it is one of

- a literal: `10000.0`, `true`, `[0, 2]`, and where it is allowed `null`;
- `$name`: in `dims` a metadata key (`$rope_parameters.rope_theta` reads an object within
  config.json), in the block options a name of `dims`;
- `{ first: [a, b, ...] }`: the first operand that the model has and that is not null, or null;
- `{ add: [a, b] }`, `{ sub: [a, b] }`, `{ mul: [a, b] }`, `{ div: [a, b] }`: a quotient of integers
  must leave no remainder; a product that must be an integer may have factors that are not, and is
  cut off;
- `{ count: $name }`: the length of a list;
- `{ given: $name }`: whether the model has it and it is not null;
- `{ tensor: NAME }`: whether the checkpoint has a tensor of this name;
- `{ map: [a, { case: b, ... }] }`: the value of the case that `a` is. A model where `a` is none of
  the cases is refused. A list is mapped element by element.

## Tensors

A role's tensor is a name, in which `{l}` stands for the number of the layer and `{e}` for that of
the expert, or a map:

- `name`;
- `when: expression`: where it is false, the model has no such tensor;
- `optional: expression`: where it is true, the checkpoint may lack the tensor; with
  `tied_to: role`, that of the other role takes its place;
- `scales`: the tensor of its scales, with `{name}` for its own name. It is needed if the tensor is
  stored as f8_e4m3, and holds one f32 for each square of 128 by 128 elements;
- `blocks`, instead of `name`: a u8 tensor [rows, columns / 32, 16] of mxfp4, two elements a byte,
  with `scales`, u8 [rows, columns / 32];
- `slice: "{e}"`: the tensor holds that of every expert, one after another in its first dimension;
- `transpose: true`: it is stored as [columns, rows];
- `rows: { group: n, from: i, count: k }`: it holds more than is wanted. Of every `n` rows, `k` are
  taken, beginning with the `i`-th (counted from 0; `i` is 0 and `k` is 1 where they are left out);
  with `transpose: true` each such piece of rows is transposed. Of a vector, its elements are meant.

Leading dimensions count as one: a tensor [a, b, c] is a matrix [a * b, c]. What is transposed and
stored in blocks of numbers becomes f32, and so do rows of f8_e4m3 that are no multiple of 128. A role may also have a
list of these: the first whose tensor the checkpoint has is taken. What is said of q, say, holds for
the bias of q as well where it is stored in the same way, but must be written there again.

The parts `layer`, `dense`, `shared` and `expert` hold the tensors of every layer, of the ffn of
dense layers, of the shared expert and of the experts of the others. A model without experts needs
no `expert`; a document that has no `shared` describes models without a shared expert, and so does
`shared_inner: 0`. Which biases, sinks and gates a model has is said by the tensors that are named.

A tensor of a checkpoint that no role and no glob of `ignore` names is an error when the model is
loaded. In a glob `{layers}` is the number of layers.
)";

}  // namespace colibri::config
