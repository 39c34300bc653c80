// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/plugin.h"

#include <algorithm>
#include <cstddef>

#include "runtime/base/log.h"
#include "runtime/base/portable_math.h"

namespace colibri::plugin {

Host::Host(std::string plugin_id, Options options)
    : plugin_id_(std::move(plugin_id)), options_(std::move(options)) {
  host_.struct_size = sizeof(host_);
  host_.abi_minor = COLIBRI_ABI_MINOR;
  host_.context = this;
  host_.math = &portable_math_table();
  host_.log = &Host::log;
  host_.option = &Host::option;
}

void Host::log(const colibri_host* host, int32_t level, colibri_str message) {
  const auto* self = static_cast<const Host*>(host->context);
  colibri::log(level, self->plugin_id_ + ": " + std::string(from_c(message)));
}

colibri_status Host::option(const colibri_host* host, colibri_str name, colibri_value* value) {
  const auto* self = static_cast<const Host*>(host->context);
  const auto found = self->options_.find(from_c(name));
  if (found == self->options_.end()) return COLIBRI_NOT_FOUND;
  // Filled up to the caller's struct_size: an older plugin has a shorter struct.
  colibri_value answer = {};
  answer.struct_size = std::min<uint32_t>(value->struct_size, sizeof(answer));
  const OptionValue& option = found->second;
  if (const bool* flag = std::get_if<bool>(&option)) {
    answer.kind = COLIBRI_VALUE_BOOL;
    answer.i = *flag ? 1 : 0;
  } else if (const int64_t* integer = std::get_if<int64_t>(&option)) {
    answer.kind = COLIBRI_VALUE_INT;
    answer.i = *integer;
  } else if (const double* number = std::get_if<double>(&option)) {
    answer.kind = COLIBRI_VALUE_FLOAT;
    answer.f = *number;
  } else {
    answer.kind = COLIBRI_VALUE_STRING;
    answer.s = to_c(std::get<std::string>(option));
  }
  std::copy_n(reinterpret_cast<const std::byte*>(&answer), answer.struct_size,
              reinterpret_cast<std::byte*>(value));
  return COLIBRI_OK;
}

const void* Plugin::table(std::string_view interface_id) const {
  const auto& ids = manifest_.interfaces;
  const auto found = std::find(ids.begin(), ids.end(), interface_id);
  return found == ids.end() ? nullptr : tables_[static_cast<size_t>(found - ids.begin())];
}

Result<std::unique_ptr<Instance>> Instance::create(std::shared_ptr<const Plugin> plugin,
                                                   const config::Value& given,
                                                   const std::string& key) {
  config::Problems problems;
  Options options = check_options(plugin->id(), plugin->manifest().options, given, key,
                                  &plugin->options(), /*complete=*/true, problems);
  COLIBRI_TRY(problems.status());
  return std::unique_ptr<Instance>(new Instance(std::move(plugin), std::move(options)));
}

}  // namespace colibri::plugin
