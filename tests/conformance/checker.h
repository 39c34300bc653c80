// SPDX-License-Identifier: Apache-2.0
// Asks two tables the same questions and compares their answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/conformance/kernel.h"
#include "tests/conformance/kernel_conformance.h"

namespace colibri::conformance {

using RunCall = std::function<void(const void* arguments)>;
// Makes the arguments of one call in fresh memory, runs it, and returns all that it may have
// written.
using Call = std::function<std::vector<Output>(const std::vector<colibri_tensor>& weights,
                                               const RunCall& run)>;

class Checker {
 public:
  Checker(const colibri_kernels_0& table, const colibri_kernels_0& reference,
          const colibri_host& host, Extent extent)
      : table_(table), reference_(reference), host_(host), extent_(extent) {}

  bool quick() const { return extent_ == Extent::kQuick; }
  void check(const Question& question, const Call& call);
  OperatorReport take_report(const char* operator_name);
  // A hash (64-bit FNV-1a) of all that the reference has answered.
  uint64_t answers() const { return answers_; }

 private:
  void fail(const Question& question, const std::string& what);
  void remember(const std::vector<Output>& answers);

  const colibri_kernels_0& table_;
  const colibri_kernels_0& reference_;
  const colibri_host& host_;
  Extent extent_;
  OperatorReport report_;
  uint64_t answers_ = 14695981039346656037u;
};

// The questions of each operator.
void check_embed(Checker& checker);
void check_norm(Checker& checker);
void check_quantize_rows(Checker& checker);
void check_grouped_matmul(Checker& checker);
void check_rope(Checker& checker);
void check_kv_write(Checker& checker);
void check_attention(Checker& checker);
void check_mla_attention(Checker& checker);
void check_router(Checker& checker);
void check_combine(Checker& checker);

}  // namespace colibri::conformance
