// SPDX-License-Identifier: Apache-2.0
// The only user of Boost.DLL.
#include "runtime/plugin/library.h"

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>
#include <map>
#include <mutex>
#include <string_view>

#include "runtime/base/guard.h"

namespace colibri::plugin {
namespace {

namespace dll = boost::dll;

// The loader's own words: Boost wraps them in its own and adds an error code that means nothing.
std::string loader_message(std::string_view text) {
  constexpr std::string_view kBegin = "dlerror system message: ";
  const size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) return std::string(text);
  text.remove_prefix(begin + kBegin.size());
  return std::string(text.substr(0, text.rfind("): ")));
}

Result<const dll::shared_library*> load(const std::string& path) {
  static std::mutex mutex;
  // Never destroyed: its destructor would unload the plugins at exit.
  static auto& libraries = *new std::map<std::string, dll::shared_library>();
  const std::lock_guard lock(mutex);
  const auto found = libraries.find(path);
  if (found != libraries.end()) return &found->second;
  try {
    dll::shared_library library(path, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    return &libraries.emplace(path, std::move(library)).first->second;
  } catch (const std::exception& failure) {
    return io_error("the loader refuses it: " + loader_message(failure.what()));
  }
}

}  // namespace

Result<const colibri_plugin*> load_plugin_table(const std::string& path) {
  constexpr char kSymbol[] = "colibri_plugin_v1";
  COLIBRI_ASSIGN(const dll::shared_library* library, load(path));
  if (!library->has(kSymbol)) {
    return corrupt_data(std::string("it exports no function ") + kSymbol);
  }
  const colibri_plugin* table = nullptr;
  COLIBRI_TRY(guarded(kSymbol, [&]() -> Status {
    table = library->get<decltype(colibri_plugin_v1)>(kSymbol)();
    return {};
  }));
  if (table == nullptr) return corrupt_data(std::string(kSymbol) + " returned no table");
  return table;
}

}  // namespace colibri::plugin
