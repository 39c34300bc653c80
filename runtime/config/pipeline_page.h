// SPDX-License-Identifier: Apache-2.0
// The head of docs/pipeline.md.
#pragma once

#include <string_view>

namespace colibri::config {

inline constexpr std::string_view kPipelinePage = R"(# Pipelines

A pipeline is a YAML document that says which model to run and how. Most keys have a default; the
least one is

```yaml
apiVersion: colibri/v1
kind: Pipeline
model: { path: ../models/demo }
```

- Keys are strict: an unknown or repeated key, a value of a wrong type or out of range is an error
  with its place and a suggestion, and all of them are reported at once
  (`colibri config validate FILE`).
- Values are typed by their key, never by how they look. Numbers are decimal; `yes` and `on` are no
  booleans. Anchors, aliases, tags and several documents in one file are refused.
- `extends: [base.yaml]` builds on other pipelines: maps merge key by key, lists and scalars
  replace.
- `--set key.path=value` on the command line is stronger than every file. Keys that hold text take
  the value as it is, all others read it as YAML: `--set 'generate.stop=["END"]'`. A number in a
  path is an index: `--set sampling.0.options.value=0.5`.
- `${env:NAME}` and `${env:NAME:-default}` within a value are replaced by an environment variable;
  the result is text and never read as YAML. `$$` stands for one `$`. An unset variable without
  default is an error. Between `{` and `}` of a flow map the value needs quotes.
- Paths are relative to the file they are written in; those of `--set` to the working directory.

`colibri config print FILE` shows every value in force and where it came from,
`colibri config explain KEY` this page's entry of one key. `configs/schema/pipeline.schema.json` is
the JSON Schema for editors.
)";

}  // namespace colibri::config
