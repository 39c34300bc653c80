// SPDX-License-Identifier: Apache-2.0
// Compares a kernel table byte by byte with the reference: all operators, codecs and awkward
// shapes, extreme numbers, tasks in any grouping and on many threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "colibri/kernels.h"

namespace colibri::conformance {

enum class Extent {
  kQuick,  // under two billion instructions, for emulators
  kFull
};

struct OperatorReport {
  std::string name;         // "grouped_matmul"
  int64_t compared = 0;     // questions whose answers were compared
  int64_t unsupported = 0;  // questions that the table does not offer to answer
  std::vector<std::string> failures;
};

// One report for each operator, and one for the reference itself if all questions were answered alike. `host` is what op_create gets; its math must be
// portable_math_table(). The table's functions run in this process, on threads of their own: a
// table that crashes takes the caller along. [setup]
std::vector<OperatorReport> check_kernels(const colibri_kernels_0& table, const colibri_host& host,
                                          Extent extent);

// A host for plugins under test: the portable mathematics, no log, no options.
colibri_host bare_host();

}  // namespace colibri::conformance
