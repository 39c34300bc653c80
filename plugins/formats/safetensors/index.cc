// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/index.h"

#include <string_view>
#include <utility>

#include "plugins/formats/safetensors/json.h"
#include "runtime/base/utf8.h"

namespace colibri::safetensors {
namespace {

namespace od = simdjson::ondemand;

Status read_weight_map(JsonText* text, od::value value, ShardOfTensor* shard_of) {
  const std::string expected = "weight_map is not an object of file names";
  od::object map;
  if (const auto code = value.get_object().get(map)) return text->failed(code, expected);
  for (auto member : map) {
    od::field field;
    if (const auto code = std::move(member).get(field)) return text->failed(code, expected);
    std::string_view key, shard;
    if (const auto code = field.unescaped_key().get(key)) return text->failed(code, expected);
    std::string tensor(key);
    if (const auto code = field.value().get_string().get(shard)) {
      return text->failed(code, expected);
    }
    if (!shard_of->emplace(tensor, shard).second) {
      return corrupt_data(text->name() + ": tensor " + utf8::printable(tensor) + " stands twice");
    }
  }
  return {};
}

}  // namespace

Result<ShardOfTensor> read_index(const std::string& name, std::string json) {
  JsonText text(name, std::move(json));
  od::object root;
  COLIBRI_TRY(text.open(&root));
  ShardOfTensor shard_of;
  bool found = false;
  for (auto member : root) {
    od::field field;
    if (const auto code = std::move(member).get(field)) return text.failed(code, "is damaged");
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return text.failed(code, "is damaged");
    if (key != "weight_map") continue;
    if (found) return corrupt_data(name + ": weight_map stands twice");
    found = true;
    COLIBRI_TRY(read_weight_map(&text, field.value(), &shard_of));
  }
  COLIBRI_TRY(text.close());
  if (shard_of.empty()) return corrupt_data(name + ": has no weight_map that names a tensor");
  return shard_of;
}

}  // namespace colibri::safetensors
