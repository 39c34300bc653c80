// SPDX-License-Identifier: Apache-2.0
// What a schema looks like to people and to editors.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/config/schema.h"

namespace colibri::config {

// JSON Schema (draft-07) of a kind of document: configs/schema/*.schema.json.
std::string json_schema(const Table& table);
// Reference page of a kind of document, Markdown: docs/pipeline.md.
std::string reference_page(const Table& table);
// What one key means, its values and its default, as plain text.
Result<std::string> explain(const Table& table, const std::string& key);

}  // namespace colibri::config
