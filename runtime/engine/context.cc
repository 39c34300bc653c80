// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/context.h"

#include <string>
#include <utility>

namespace colibri::engine {

Result<std::unique_ptr<Context>> Context::create(const ForwardParts& parts, int64_t max_tokens,
                                                 std::shared_ptr<Batch> batch) {
  if (max_tokens < 1 || max_tokens > parts.spec->max_tokens) {
    return invalid_argument("a context of " + std::to_string(max_tokens) +
                            " tokens: the model takes 1 to " +
                            std::to_string(parts.spec->max_tokens));
  }
  std::unique_ptr<Context> context(new Context(parts, max_tokens, std::move(batch)));
  COLIBRI_ASSIGN(context->cache_, KvCache::create(*parts.spec, parts.kv, max_tokens, parts.device));
  return context;
}

Context::Context(const ForwardParts& parts, int64_t max_tokens, std::shared_ptr<Batch> batch)
    : parts_(parts), max_tokens_(max_tokens), batch_(std::move(batch)) {}

}  // namespace colibri::engine
