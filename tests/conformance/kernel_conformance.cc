// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/kernel_conformance.h"

#include <algorithm>
#include <cstdio>

#include "plugins/cpu_generic/kernel_table.h"
#include "runtime/base/portable_math.h"
#include "tests/conformance/checker.h"

namespace colibri::conformance {
namespace {

// What the reference answers to all questions of an extent. These are the bytes that docs/numerics.md promises: they are the
// same on every machine, and only new questions may change these numbers.
constexpr uint64_t kQuickAnswers = 0xba2c83f9fc7822a3;
constexpr uint64_t kFullAnswers = 0x662e165fc7c6a713;

OperatorReport check_answers(uint64_t answers, Extent extent) {
  OperatorReport report;
  report.name = "reference";
  report.compared = 1;
  if (answers != (extent == Extent::kQuick ? kQuickAnswers : kFullAnswers)) {
    char text[96];
    std::snprintf(text, sizeof(text),
                  "its bytes are not those promised: the hash of its answers is %016llx",
                  static_cast<unsigned long long>(answers));
    report.failures.push_back(text);
  }
  return report;
}

std::string table_problem(const colibri_kernels_0& table) {
  if (table.struct_size < sizeof(table)) return "the table is smaller than that of this header";
  if (table.draft != COLIBRI_KERNELS_DRAFT) return "the table is of another draft";
  if (table.numerics < COLIBRI_NUMERICS_IDENTICAL || table.numerics > COLIBRI_NUMERICS_APPROXIMATE)
    return "the numerics are of no known class";
  const bool complete = table.supports != nullptr && table.pack_layout != nullptr &&
                        table.pack != nullptr && table.op_create != nullptr &&
                        table.op_tasks != nullptr && table.op_run != nullptr;
  if (!complete) return "a function of the table is missing";
  colibri_op_desc unknown = {};
  unknown.struct_size = sizeof(unknown);
  unknown.op = 0x7FFFFFFF;
  char why_not[128] = "";
  if (table.supports(&unknown, why_not) != 0) return "an unknown operator is said to be supported";
  if (why_not[0] == '\0') return "an unknown operator is refused without a reason";
  return "";
}

}  // namespace

std::vector<OperatorReport> check_kernels(const colibri_kernels_0& table, const colibri_host& host,
                                          Extent extent) {
  std::vector<OperatorReport> reports(1);
  reports[0].name = "table";
  reports[0].compared = 1;
  if (const std::string problem = table_problem(table); !problem.empty()) {
    reports[0].failures.push_back(problem);
    return reports;
  }
  Checker checker(table, cpu_generic::kKernelTable, host, extent);
  const auto check = [&](const char* name, void (*questions)(Checker&)) {
    questions(checker);
    reports.push_back(checker.take_report(name));
  };
  check("embed", check_embed);
  check("norm", check_norm);
  check("quantize_rows", check_quantize_rows);
  check("grouped_matmul", check_grouped_matmul);
  check("rope", check_rope);
  check("kv_write", check_kv_write);
  check("attention", check_attention);
  check("mla_attention", check_mla_attention);
  check("router", check_router);
  check("combine", check_combine);
  const bool all_asked =
      std::all_of(reports.begin(), reports.end(), [](const OperatorReport& report) {
        return report.unsupported == 0 && report.failures.empty();
      });
  if (all_asked) reports.push_back(check_answers(checker.answers(), extent));
  return reports;
}

colibri_host bare_host() {
  colibri_host host = {};
  host.struct_size = sizeof(host);
  host.abi_minor = COLIBRI_ABI_MINOR;
  host.math = &portable_math_table();
  host.log = [](const colibri_host*, int32_t, colibri_str) {};
  host.option = [](const colibri_host*, colibri_str, colibri_value*) -> colibri_status {
    return COLIBRI_NOT_FOUND;
  };
  return host;
}

}  // namespace colibri::conformance
