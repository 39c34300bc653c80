// SPDX-License-Identifier: Apache-2.0
// A format for tests: describes whatever the test says.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "colibri/format.h"

namespace colibri::model {

struct FakeFormat {
  using Scalar = std::variant<std::monostate, bool, int64_t, double, std::string>;

  struct Tensor {
    std::string name;
    std::vector<int64_t> shape;
    uint32_t codec = COLIBRI_CODEC_F32;
    uint64_t offset = 0, bytes = 0;
    uint32_t file = 0;
    uint32_t layout = 0;
  };

  std::string vocabulary = "hf";
  std::vector<Tensor> tensors;
  std::map<std::string, std::vector<Scalar>> lists;
  std::map<std::string, Scalar> values;

  // Adds a tensor behind the last one.
  void add(const std::string& name, const std::vector<int64_t>& shape,
           uint32_t codec = COLIBRI_CODEC_F32);

  // The table; it describes the FakeFormat for which this was called last, which must outlive it.
  const colibri_format_1* table();
};

}  // namespace colibri::model
