// SPDX-License-Identifier: Apache-2.0
// Reading a usage file (docs/cache-policies.md): "colibri-expert-usage 1", "layers N", "experts N",
// then a line "LAYER EXPERT USES" per expert, most used first. Header-only.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/function_ref.h"
#include "runtime/base/status.h"

namespace colibri::cache_policies {

class UsageList {
 public:
  explicit UsageList(std::string_view text) : rest_(text) {}

  // Calls visit(layer, expert) for each line in turn. A list for other sizes than layers x experts
  // is of another model. An empty text lists nothing.
  Status read(uint32_t layers, uint32_t experts,
              FunctionRef<Status(uint32_t layer, uint32_t expert)> visit) {
    if (rest_.empty()) return {};
    if (!skip("colibri-expert-usage 1\n")) return failure("is not 'colibri-expert-usage 1'");
    COLIBRI_TRY(size("layers ", layers));
    COLIBRI_TRY(size("experts ", experts));
    while (!rest_.empty()) {
      uint64_t layer = 0, expert = 0, uses = 0;
      if (!number(layer) || !skip(" ") || !number(expert) || !skip(" ") || !number(uses) ||
          rest_.empty() || rest_.front() != '\n') {
        return failure("is not 'LAYER EXPERT USES'");
      }
      if (layer >= layers || expert >= experts) {
        return failure("is expert " + std::to_string(expert) + " of layer " +
                       std::to_string(layer) + ": there are " + std::to_string(layers) +
                       " layers of " + std::to_string(experts) + " experts");
      }
      if (Status status = visit(static_cast<uint32_t>(layer), static_cast<uint32_t>(expert));
          !status.ok()) {
        return failure(status.text());
      }
      skip("\n");
    }
    return {};
  }

 private:
  Status failure(const std::string& what) const {
    return corrupt_data("line " + std::to_string(line_) + " " + what);
  }
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    if (text.back() == '\n') ++line_;
    return true;
  }
  bool number(uint64_t& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  Status size(std::string_view name, uint32_t wanted) {
    uint64_t value = 0;
    if (!skip(name) || !number(value) || rest_.empty() || rest_.front() != '\n') {
      return failure("is not '" + std::string(name) + "N'");
    }
    if (value != wanted) {
      return failure("says " + std::string(name) + std::to_string(value) + ", but the model has " +
                     std::to_string(wanted) + ": the list is of another model");
    }
    skip("\n");
    return {};
  }

  std::string_view rest_;
  uint64_t line_ = 1;
};

}  // namespace colibri::cache_policies
