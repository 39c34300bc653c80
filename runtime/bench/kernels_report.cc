// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "runtime/bench/kernels.h"
#include "runtime/bench/summary.h"

namespace colibri::bench {
namespace {

using Json = nlohmann::ordered_json;

Fractions fractions(const KernelReport& report, const KernelCase& of, const KernelTime& time) {
  return Fractions::of(of.work, spread(time.seconds).median, report.limits);
}

}  // namespace

std::string text(const KernelReport& report) {
  char line[256];
  std::snprintf(line, sizeof(line),
                "limits of the machine now: read %.1f GB/s, int8 %.0f GOP/s, f32 %.0f GFLOP/s\n",
                report.limits.read / 1e9, report.limits.rates.int8 / 1e9,
                report.limits.rates.f32 / 1e9);
  std::string text = line;
  for (const KernelCase& of : report.cases) {
    text += of.uses + ": " + of.description + "\n";
    std::snprintf(line, sizeof(line), "  %lld x %lld rows\n",
                  static_cast<long long>(of.shape.groups), static_cast<long long>(of.shape.rows));
    text += line;
    for (const KernelTime& time : of.times) {
      if (!time.refusal.empty()) {
        text += "    " + time.plugin + ": not offered\n";
        continue;
      }
      const double seconds = spread(time.seconds).median;
      if (of.work.bytes == 0) {  // computing in caches, which no limit measures
        std::snprintf(line, sizeof(line), "    %-16s %10.4f ms\n", time.plugin.c_str(),
                      1000 * seconds);
        text += line;
        continue;
      }
      const Fractions part = fractions(report, of, time);
      std::snprintf(
          line, sizeof(line), "    %-16s %10.4f ms  %7.2f GB/s (%.0f %%)  %8.1f GOP/s (%.0f %%)\n",
          time.plugin.c_str(), 1000 * seconds, of.work.bytes / seconds / 1e9, 100 * part.read,
          (of.work.int8 + of.work.f32) / seconds / 1e9, 100 * (part.int8 + part.f32));
      text += line;
    }
  }
  return text;
}

Json json(const KernelReport& report) {
  Json cases = Json::array();
  for (const KernelCase& of : report.cases) {
    Json times = Json::array();
    for (const KernelTime& time : of.times) {
      Json entry = {{"plugin", time.plugin}};
      if (time.refusal.empty()) {
        const Spread seconds = spread(time.seconds);
        const Fractions part = fractions(report, of, time);
        entry["seconds"] = {
            {"median", seconds.median}, {"least", seconds.least}, {"most", seconds.most}};
        entry["read_fraction"] = part.read;
        entry["int8_fraction"] = part.int8;
        entry["f32_fraction"] = part.f32;
      } else {
        entry["refused"] = time.refusal;
      }
      times.push_back(std::move(entry));
    }
    cases.push_back({{"uses", of.uses},
                     {"operator", of.description},
                     {"groups", of.shape.groups},
                     {"rows", of.shape.rows},
                     {"bytes", of.work.bytes},
                     {"operations", of.work.int8 + of.work.f32},
                     {"plugins", times}});
  }
  return {{"limits",
           {{"read_bytes_per_second", report.limits.read},
            {"int8_operations_per_second", report.limits.rates.int8},
            {"f32_operations_per_second", report.limits.rates.f32}}},
          {"cases", cases}};
}

}  // namespace colibri::bench
