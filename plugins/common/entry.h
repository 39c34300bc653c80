// SPDX-License-Identifier: Apache-2.0
// What colibri_plugin_v1() returns, for a plugin that offers one interface. Header-only.
#pragma once

#include <cstring>

#include "colibri/cache_policy.h"
#include "colibri/format.h"
#include "colibri/kernels.h"
#include "colibri/plugin.h"
#include "colibri/sampler.h"
#include "colibri/tokenizer.h"

namespace colibri::plugin {

constexpr const char* interface_of(const colibri_cache_policy_1&) {
  return "colibri.cache_policy/1";
}
constexpr const char* interface_of(const colibri_format_1&) {
  return "colibri.format/1";
}
constexpr const char* interface_of(const colibri_kernels_0&) {
  return "colibri.kernels/0";
}
constexpr const char* interface_of(const colibri_sampler_1&) {
  return "colibri.sampler/1";
}
constexpr const char* interface_of(const colibri_tokenizer_1&) {
  return "colibri.tokenizer/1";
}

// id and version are the manifest's; open may be null.
template <const auto& kTable>
constexpr colibri_plugin entry(const char* id, const char* version,
                               decltype(colibri_plugin::open) open = nullptr) {
  return {sizeof(colibri_plugin),
          COLIBRI_ABI_MINOR,
          id,
          version,
          open,
          nullptr,
          [](const char* interface) -> const void* {
            return std::strcmp(interface, interface_of(kTable)) == 0 ? &kTable : nullptr;
          }};
}

}  // namespace colibri::plugin
