// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/unknown_keys.h"

#include <algorithm>

#include "runtime/base/container.h"

namespace colibri::model {
namespace {

void add_references(const config::Expr& expression, std::vector<std::string_view>* keys) {
  if (expression.kind == config::Expr::Kind::kReference) keys->push_back(expression.name);
  for (const config::Expr& operand : expression.operands) add_references(operand, keys);
}

std::vector<std::string_view> known_keys(const config::Vocabulary& vocabulary) {
  std::vector<std::string_view> keys = {"eos_token_id", "bos_token_id"};  // read_special_ids()
  for (const auto* conditions : {&vocabulary.match, &vocabulary.require}) {
    for (const config::Condition& condition : *conditions) keys.push_back(condition.key);
  }
  for (const config::Dimension& dimension : vocabulary.dims) {
    add_references(dimension.value, &keys);
  }
  return keys;
}

// Whether one is the other, or a member of it.
bool covers(std::string_view known, std::string_view key) {
  return key.starts_with(known) && (key.size() == known.size() || key[known.size()] == '.');
}

// Tokenizers, chat templates and generation read the keys of the other files, and these of GGUF.
bool is_read_elsewhere(std::string_view key) {
  return covers("generation_config", key) || covers("tokenizer_config", key) ||
         covers("tokenizer", key);
}

}  // namespace

std::vector<std::string_view> unknown_keys(const ModelSource& source,
                                           const config::Architecture& architecture) {
  const config::Vocabulary* vocabulary = architecture.vocabulary(source.vocabulary());
  std::vector<std::string_view> keys = source.metadata_keys();
  if (vocabulary == nullptr) return keys;
  const std::vector<std::string_view> known = known_keys(*vocabulary);
  std::erase_if(keys, [&](std::string_view key) {
    // "rope_scaling" that is null, say, where its members are known.
    const auto is_covered = [&](std::string_view name) {
      return covers(name, key) || covers(key, name);
    };
    return is_read_elsewhere(key) || key.starts_with(container::kOwnKeys) ||
           std::any_of(known.begin(), known.end(), is_covered);
  });
  return keys;
}

}  // namespace colibri::model
