// SPDX-License-Identifier: Apache-2.0
// colibri_kernel_conformance [--quick] [--needs FEATURE]... PLUGIN.so...
//
// Compares the kernels of each plugin with the reference and prints a line for each operator. Exit
// code 0: all equal, 1: differences, 2: usage or a plugin that cannot be loaded, 77: this machine
// lacks a feature (names of /proc/cpuinfo).
#include <dlfcn.h>

#include <cstdio>
#include <string_view>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/machine/cpu_features.h"
#include "tests/conformance/kernel_conformance.h"

namespace colibri::conformance {
namespace {

constexpr int kSkipped = 77;
constexpr size_t kShownFailures = 5;

const colibri_kernels_0* load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return nullptr;
  }
  using Entry = const colibri_plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "colibri_plugin_v1"));
  if (entry == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return nullptr;
  }
  colibri_error error = {sizeof(error), COLIBRI_OK, ""};
  if (entry()->open != nullptr && entry()->open(nullptr, &error) != COLIBRI_OK) {
    std::fprintf(stderr, "%s: %s\n", path, error.text);
    return nullptr;
  }
  const auto* table =
      static_cast<const colibri_kernels_0*>(entry()->get_interface("colibri.kernels/0"));
  if (table == nullptr) std::fprintf(stderr, "%s: offers no colibri.kernels/0\n", path);
  return table;
}

bool print(const std::vector<OperatorReport>& reports) {
  bool passed = true;
  for (const OperatorReport& report : reports) {
    const bool good = report.failures.empty();
    passed = passed && good;
    std::printf("  %-15s %s  %5lld compared, %lld not offered, %zu failed\n", report.name.c_str(),
                good ? "ok  " : "FAIL", static_cast<long long>(report.compared),
                static_cast<long long>(report.unsupported), report.failures.size());
    for (size_t i = 0; i < report.failures.size() && i < kShownFailures; ++i)
      std::printf("    %s\n", report.failures[i].c_str());
  }
  std::fflush(stdout);
  return passed;
}

int run(int count, char** arguments) {
  Extent extent = Extent::kFull;
  std::vector<const char*> paths;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--quick") {
      extent = Extent::kQuick;
    } else if (argument == "--needs" && i + 1 < count) {
      if (machine::cpu_features().count(arguments[++i]) != 0) continue;
      std::printf("skipped: this machine has no %s\n", arguments[i]);
      return kSkipped;
    } else if (argument.substr(0, 1) == "-") {
      paths.clear();
      break;
    } else {
      paths.push_back(arguments[i]);
    }
  }
  if (paths.empty()) {
    std::fprintf(stderr, "usage: %s [--quick] [--needs FEATURE]... PLUGIN.so...\n", arguments[0]);
    return 2;
  }
  bool passed = true;
  for (const char* path : paths) {
    const colibri_kernels_0* table = load(path);
    if (table == nullptr) return 2;
    std::printf("%s\n", path);
    const colibri_host host = bare_host();
    if (!print(check_kernels(*table, host, extent))) passed = false;
  }
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace colibri::conformance

int main(int count, char** arguments) {
  return colibri::conformance::run(count, arguments);
}
