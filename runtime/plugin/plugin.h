// SPDX-License-Identifier: Apache-2.0
// A loaded plugin, and instances: hosts that plugins see when something is created with them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/plugin.h"
#include "runtime/base/status.h"
#include "runtime/plugin/manifest.h"
#include "runtime/plugin/options.h"

namespace colibri::plugin {

// The host as one plugin, or one thing created with it, sees it: its options, the log, the
// mathematics. Must outlive whatever was created with it, and does not move.
class Host {
 public:
  Host(std::string plugin_id, Options options);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const colibri_host* get() const { return &host_; }
  const Options& options() const { return options_; }

 private:
  static void log(const colibri_host* host, int32_t level, colibri_str message);
  static colibri_status option(const colibri_host* host, colibri_str name, colibri_value* value);

  colibri_host host_ = {};
  std::string plugin_id_;
  Options options_;
};

// A plugin that is loaded and open; closed when the last owner of all models lets go. Its code
// stays loaded as long as the process.
class Plugin {
 public:
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const std::string& id() const { return manifest_.id; }
  const std::string& file() const { return file_; }  // absolute; "(linked in)"
  const Manifest& manifest() const { return manifest_; }
  const Options& options() const { return host_->options(); }  // plugins.options, and defaults
  const colibri_host* host() const { return host_->get(); }

  // The table of an interface of the manifest, or null. All required functions of the table are
  // there. [any]
  template <typename Table>
  const Table* interface(std::string_view interface_id) const {
    return static_cast<const Table*>(table(interface_id));
  }

 private:
  Plugin() = default;
  const void* table(std::string_view interface_id) const;
  friend class PluginOpener;

  Manifest manifest_;
  std::string file_;
  const colibri_plugin* plugin_ = nullptr;
  std::unique_ptr<Host> host_;
  std::vector<const void*> tables_;  // in the order of manifest_.interfaces
};

// Something created with a plugin: keeps the plugin open and holds the host with its options.
// Options that are not given take the value of plugins.options, else the manifest's default.
class Instance {
 public:
  // given: the options of the pipeline, standing at `key` of it ("sampling.0.options"). Errors:
  // every wrong, unknown or missing option, one a line with its place. [setup]
  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<const Plugin> plugin,
                                                  const config::Value& given,
                                                  const std::string& key);

  const colibri_host* host() const { return host_.get(); }
  const Plugin& plugin() const { return *plugin_; }
  const Options& options() const { return host_.options(); }

 private:
  Instance(std::shared_ptr<const Plugin> plugin, Options options)
      : plugin_(std::move(plugin)), host_(plugin_->id(), std::move(options)) {}

  std::shared_ptr<const Plugin> plugin_;
  Host host_;
};

}  // namespace colibri::plugin
