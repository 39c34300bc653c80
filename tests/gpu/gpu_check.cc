// SPDX-License-Identifier: Apache-2.0
// colibri_gpu_check [--quick] [--speed] PLUGIN.so
//
// Asks the kernels of a device plugin the conformance questions on its first device, and with
// --speed measures products against what the device's memory gives in the same run. Prints one JSON
// object. Exit code 0: all answers agree, 1: some do not, 2: usage, or a plugin that cannot be
// loaded, 77: no device that it can use.
#include <dlfcn.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/base/guard.h"
#include "runtime/base/log.h"
#include "tests/conformance/kernel_conformance.h"
#include "tests/gpu/product_speed.h"
#include "tests/gpu/staged_table.h"
#ifdef COLIBRI_TENSOR_CORE_RATE
#include "tests/gpu/tensor_core_rate.h"
#endif

namespace colibri::gpu_check {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSkipped = 77;
constexpr size_t kShownFailures = 10;

struct Plugin {
  const colibri_kernels_0* kernels = nullptr;
  const colibri_device_0* device = nullptr;
};

Result<Plugin> load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return not_found(dlerror());
  using Entry = const colibri_plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "colibri_plugin_v1"));
  if (entry == nullptr) return not_found(dlerror());
  Plugin plugin;
  plugin.kernels =
      static_cast<const colibri_kernels_0*>(entry()->get_interface("colibri.kernels/0"));
  plugin.device = static_cast<const colibri_device_0*>(entry()->get_interface("colibri.device/0"));
  if (plugin.kernels == nullptr || plugin.device == nullptr)
    return unsupported(std::string(path) + ": offers no kernels or no device");
  return plugin;
}

Result<Json> describe(const colibri_device_0& device) {
  colibri_device_info info = {};
  info.struct_size = sizeof(info);
  colibri_error error = empty_error();
  COLIBRI_TRY(from_c(device.info(0, &info, &error), error, "info"));
  uint64_t free = 0;
  COLIBRI_TRY(from_c(device.free_memory(0, &free, &error), error, "free_memory"));
  return Json{{"name", info.name},
              {"architecture", info.architecture},
              {"memory_bytes", info.memory_bytes},
              {"free_bytes", free}};
}

Json conformance(const Plugin& plugin, conformance::Extent extent, bool* passed) {
  const colibri_kernels_0 table = staged_table(*plugin.kernels, *plugin.device);
  const colibri_host host = conformance::bare_host();
  Json reports = Json::array();
  for (const auto& report : conformance::check_kernels(table, host, extent)) {
    if (!report.failures.empty()) *passed = false;
    Json shown = Json::array();
    for (size_t i = 0; i < report.failures.size() && i < kShownFailures; ++i)
      shown.push_back(report.failures[i]);
    reports.push_back({{"operator", report.name},
                       {"compared", report.compared},
                       {"not_offered", report.unsupported},
                       {"failed", report.failures.size()},
                       {"failures", shown}});
  }
  return reports;
}

// null where it cannot be measured; stderr says why.
Json rate_of_tensor_cores() {
#ifdef COLIBRI_TENSOR_CORE_RATE
  const char* why = "";
  const double rate = tensor_core_rate(&why);
  if (rate > 0) return rate;
  std::fprintf(stderr, "the rate of tensor cores: %s\n", why);
#else
  std::fprintf(stderr, "the rate of tensor cores: built without the CUDA Toolkit\n");
#endif
  return {};
}

Json to_json(const Speed& speed) {
  const Json peak = rate_of_tensor_cores();
  Json products = Json::array();
  for (const ProductSpeed& each : speed.products) {
    products.push_back({{"codec", each.codec},
                        {"rows", each.rows},
                        {"seconds", each.seconds},
                        {"weight_bytes_per_second", each.bytes / each.seconds},
                        {"fraction_of_copy", each.bytes / each.seconds / speed.copy_rate},
                        {"operations_per_second", each.operations / each.seconds},
                        {"fraction_of_tensor_cores",
                         peak.is_null() || !each.integers
                             ? Json()
                             : Json(each.operations / each.seconds / peak.get<double>())}});
  }
  return {{"copy_bytes_per_second", speed.copy_rate},
          {"tensor_core_int8_operations_per_second", peak},
          {"products", products}};
}

Result<int> run(int count, char** arguments) {
  conformance::Extent extent = conformance::Extent::kFull;
  bool measures = false;
  const char* path = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--quick") {
      extent = conformance::Extent::kQuick;
    } else if (argument == "--speed") {
      measures = true;
    } else if (argument.substr(0, 1) == "-" || path != nullptr) {
      return invalid_argument("usage: colibri_gpu_check [--quick] [--speed] PLUGIN.so");
    } else {
      path = arguments[i];
    }
  }
  if (path == nullptr)
    return invalid_argument("usage: colibri_gpu_check [--quick] [--speed] PLUGIN.so");
  COLIBRI_ASSIGN(const Plugin plugin, load(path));
  uint32_t devices = 0;
  colibri_error error = empty_error();
  const Status probed = from_c(plugin.device->probe(&devices, &error), error, "probe");
  if (!probed.ok()) {
    std::fprintf(stderr, "skipped: %s\n", probed.text().c_str());
    return kSkipped;
  }
  bool passed = true;
  Json json;
  COLIBRI_ASSIGN(json["device"], describe(*plugin.device));
  json["conformance"] = conformance(plugin, extent, &passed);
  if (measures) {
    COLIBRI_ASSIGN(const Speed speed, measure_products(*plugin.kernels, *plugin.device));
    json["speed"] = to_json(speed);
  }
  json["passed"] = passed;
  std::printf("%s\n", json.dump(2).c_str());
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace colibri::gpu_check

int main(int count, char** arguments) {
  colibri::set_log_sink([](int32_t, std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  });
  int code = 2;
  const colibri::Status status = colibri::guarded("a library", [&]() -> colibri::Status {
    COLIBRI_ASSIGN(code, colibri::gpu_check::run(count, arguments));
    return {};
  });
  if (!status.ok()) std::fprintf(stderr, "colibri_gpu_check: %s\n", status.text().c_str());
  return status.ok() ? code : 2;
}
