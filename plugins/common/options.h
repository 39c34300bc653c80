// SPDX-License-Identifier: Apache-2.0
// Reading the options that a plugin's manifest declares. Header-only; needs colibri_base.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "colibri/plugin.h"
#include "runtime/base/status.h"

namespace colibri::plugin {

// The value of an option, of the kind COLIBRI_VALUE_*. The host has checked type and range against
// the manifest; a failure here means that manifest and code disagree. [setup]
inline Result<colibri_value> option(const colibri_host* host, std::string_view name,
                                    uint32_t kind) {
  colibri_value value = {};
  value.struct_size = sizeof(value);
  const colibri_status status = host->option(host, to_c(name), &value);
  if (status != COLIBRI_OK) return Status(status, "no option " + std::string(name));
  if (value.kind != kind)
    return internal_error("option " + std::string(name) + " is of another kind");
  return value;
}

inline Result<double> float_option(const colibri_host* host, std::string_view name) {
  COLIBRI_ASSIGN(const colibri_value value, option(host, name, COLIBRI_VALUE_FLOAT));
  return value.f;
}

inline Result<int64_t> int_option(const colibri_host* host, std::string_view name) {
  COLIBRI_ASSIGN(const colibri_value value, option(host, name, COLIBRI_VALUE_INT));
  return value.i;
}

inline Result<bool> bool_option(const colibri_host* host, std::string_view name) {
  COLIBRI_ASSIGN(const colibri_value value, option(host, name, COLIBRI_VALUE_BOOL));
  return value.i != 0;
}

// The text lives as long as the host.
inline Result<std::string_view> string_option(const colibri_host* host, std::string_view name) {
  COLIBRI_ASSIGN(const colibri_value value, option(host, name, COLIBRI_VALUE_STRING));
  return from_c(value.s);
}

}  // namespace colibri::plugin
