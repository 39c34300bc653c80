// SPDX-License-Identifier: Apache-2.0
// Weight: a matrix that the engine computes with, and which rows of which tensor it is made of.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/model/source.h"

namespace colibri::model {

// What a weight is for. The numbers are used as indices.
enum class Role {
  kEmbedding,
  kHead,
  kFinalNorm,
  kAttentionNorm,
  kQ,
  kK,
  kV,
  kO,
  kQBias,
  kKBias,
  kVBias,
  kOBias,
  kQNorm,
  kKNorm,
  kSinks,
  kQDown,
  kQDownNorm,
  kQUp,
  kKvDown,
  kKvDownNorm,
  kKAbsorb,
  kVUp,
  kFfnNorm,
  kRouter,
  kRouterBias,
  kSelectBias,
  kSharedGate,
  kGate,  // these six of an expert, the shared expert or a dense layer
  kUp,
  kDown,
  kGateBias,
  kUpBias,
  kDownBias,
};
constexpr int kRoles = static_cast<int>(Role::kDownBias) + 1;
const char* role_name(Role role);  // as the architecture document spells it: "attention_norm"

// A row-major matrix [rows, cols]; a vector has one row. read_rows() (rows.h) gives its rows.
struct Weight {
  Role role = Role::kEmbedding;
  const TensorEntry* tensor = nullptr;  // null = absent
  int64_t rows = 0, cols = 0;

  explicit operator bool() const { return tensor != nullptr; }
  uint32_t codec() const { return tensor->codec; }  // of the rows
  int64_t elements() const { return rows * cols; }
  uint64_t bytes() const { return tensor->bytes; }  // of all rows
  std::string name() const { return std::string(tensor->name); }
};

}  // namespace colibri::model
