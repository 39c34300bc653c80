// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/opener.h"

#include <map>
#include <mutex>

#include "runtime/base/guard.h"
#include "runtime/plugin/library.h"
#include "runtime/plugin/tables.h"

namespace colibri::plugin {

class PluginOpener {
 public:
  static PluginOpener& instance() {
    static auto& opener =
        *new PluginOpener();  // plugins may be closed after static destructors began
    return opener;
  }

  Result<std::shared_ptr<const Plugin>> open(const Manifest& manifest, const std::string& file,
                                             const colibri_plugin* table, Options options) {
    if (table == nullptr) {
      COLIBRI_ASSIGN(table, load_plugin_table(file));
    }
    COLIBRI_TRY(check_plugin_table(*table, manifest));

    const std::lock_guard lock(mutex_);
    const auto found = open_.find(table);
    if (found != open_.end()) {
      if (found->second.plugin->options() != options) {
        return unsupported("another model of this process uses it with other plugins.options");
      }
      return lend(table, found->second);
    }
    COLIBRI_ASSIGN(std::unique_ptr<Plugin> plugin,
                   open_first(manifest, file, table, std::move(options)));
    return lend(table, open_.emplace(table, Use{std::move(plugin), 0}).first->second);
  }

 private:
  struct Use {
    std::unique_ptr<Plugin> plugin;
    int owners;
  };

  static Result<std::unique_ptr<Plugin>> open_first(const Manifest& manifest,
                                                    const std::string& file,
                                                    const colibri_plugin* table, Options options) {
    std::unique_ptr<Plugin> plugin(new Plugin());
    plugin->manifest_ = manifest;
    plugin->file_ = file;
    plugin->plugin_ = table;
    plugin->host_ = std::make_unique<Host>(manifest.id, std::move(options));
    if (table->open != nullptr) {
      colibri_error error = empty_error();
      COLIBRI_TRY(guarded(
          "open", [&] { return from_c(table->open(plugin->host(), &error), error, "open"); }));
    }
    const Status status = get_tables(*plugin);
    if (!status.ok()) {
      close(*table);
      return status;
    }
    return plugin;
  }

  static Status get_tables(Plugin& plugin) {
    for (const std::string& id : plugin.manifest_.interfaces) {
      const void* table = nullptr;
      COLIBRI_TRY(guarded("get_interface", [&]() -> Status {
        table = plugin.plugin_->get_interface(id.c_str());
        return check_interface_table(id, table, plugin.manifest_);
      }));
      plugin.tables_.push_back(table);
    }
    return {};
  }

  static void close(const colibri_plugin& table) {
    if (table.close == nullptr) return;
    // Nobody is left who could hear of a failure.
    static_cast<void>(guarded("close", [&]() -> Status {
      table.close();
      return {};
    }));
  }

  std::shared_ptr<const Plugin> lend(const colibri_plugin* table, Use& use) {
    ++use.owners;
    return {use.plugin.get(), [table](const Plugin*) { instance().give_back(table); }};
  }

  void give_back(const colibri_plugin* table) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(table);
    if (--found->second.owners > 0) return;
    close(*table);
    open_.erase(found);
  }

  std::mutex mutex_;
  std::map<const colibri_plugin*, Use> open_;
};

Result<std::shared_ptr<const Plugin>> open_plugin(const Manifest& manifest, const std::string& file,
                                                  const colibri_plugin* table, Options options) {
  return PluginOpener::instance().open(manifest, file, table, std::move(options));
}

}  // namespace colibri::plugin
