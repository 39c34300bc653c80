// SPDX-License-Identifier: Apache-2.0
// One operator of one table, created and with its weights packed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/base/status.h"
#include "tests/conformance/memory.h"
#include "tests/conformance/numbers.h"

namespace colibri::conformance {

// What is asked of a table.
struct Question {
  std::string name;  // for messages
  uint32_t op = 0;
  std::vector<uint8_t> attributes;
  std::vector<colibri_tensor> weights;  // descriptions, row-major
  int64_t max_rows = 0;
  std::vector<SourceMatrix> sources;  // of source i, weights[i % weights.size()] is the description
  // Of plugins that are not identical. The numbers within the operator are about so large, where
  // those of its answer may be smaller; and whether what another order of sums changes may become
  // anything in the answer, so that they are not asked.
  float magnitude = 0;
  bool magnifies = false;

  template <typename Attributes>
  void set_attributes(Attributes a) {
    a.struct_size = sizeof(a);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&a);
    attributes.assign(bytes, bytes + sizeof(a));
  }
  colibri_op_desc desc() const;
};

enum class Schedule {
  kOneRange,
  kOneByOne,  // last task first
  kThreads    // ranges of odd sizes, taken by eight threads
};

class Kernel {
 public:
  // COLIBRI_UNSUPPORTED if the table says that it does not compute this.
  static Result<Kernel> create(const colibri_kernels_0& table, const colibri_host& host,
                               const Question& question);

  // The packed weights, parallel to the question's sources.
  const std::vector<colibri_tensor>& weights() const { return packed_; }
  // Their bytes, if the layout is a described one and can be compared.
  std::vector<Output> packed_outputs() const;

  Status run(const void* arguments, Schedule schedule) const;

 private:
  Kernel() = default;
  Status pack(const Question& question);

  const colibri_kernels_0* table_ = nullptr;
  std::vector<Memory> packed_memory_;
  std::vector<colibri_tensor> packed_;
  std::vector<Memory> state_;  // one
  uint64_t scratch_bytes_ = 0;
};

}  // namespace colibri::conformance
