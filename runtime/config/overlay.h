// SPDX-License-Identifier: Apache-2.0
// Overlays: how one document is made of several sources. In rising order of strength: the files
// named by `extends`, the file itself, overrides of the command line.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "runtime/config/pipeline.h"
#include "runtime/config/schema.h"

namespace colibri::config {

// Reads and parses a regular file. Problems stand at `where`, or in the file itself.
std::optional<Value> read_document(const std::string& path, const Position& where,
                                   const std::string& key, Problems& problems);

// True if apiVersion and kind are those of `table`. Otherwise nothing else in the document is worth
// checking: it is of another kind.
bool check_kind(const Table& table, const Value& document, Problems& problems);

// The document in `path` with its `extends` merged and ${env:NAME} replaced. Every file on the way
// is of the kind of `table`.
std::optional<Value> load_extended(const Table& table, const std::string& path, Problems& problems);

// Puts one override into the document. Text for keys that hold text, YAML for all others.
void apply_override(const Table& table, const Override& change, Value& document,
                    Problems& problems);

// Maps are merged key by key; anything else of `strong` replaces what `weak` has.
Value merge(Value weak, Value strong);

// Replaces ${env:NAME} and ${env:NAME:-default} in every scalar below value, and $$ by $. What
// comes out is text: a key gives it its type, YAML never sees it.
void interpolate(Value& value, const std::string& key, Problems& problems);

}  // namespace colibri::config
