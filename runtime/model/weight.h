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
  kRopeFactors,
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
  kQDownBias,
  kQDownNorm,
  kQUp,
  kKvDown,
  kKvDownBias,
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

// How the rows of a weight lie in its tensor: a run of its rows, as stored, is a matrix; that may be
// transposed; of its rows some are meant; and pieces of these may be transposed once more.
struct RowMap {
  int64_t first = 0;  // row of the tensor, leading dimensions as one, where the matrix begins
  int64_t rows = 0, cols = 0;  // of the matrix as it is stored
  bool transpose = false;
  // Of every `group` rows (after transposing), `count` from the `from`-th on are meant.
  int64_t group = 1, from = 0, count = 1;
  bool transpose_groups = false;  // the `count` rows of each group are columns of the weight
};

// A row-major matrix [rows, cols]; a vector has one row. read_rows() (rows.h) gives its rows.
struct Weight {
  Role role = Role::kEmbedding;
  const TensorEntry* tensor = nullptr;  // null = absent
  const TensorEntry* scales = nullptr;  // of mxfp4 (u8) and fp8 tensors whose scales stand apart
  int64_t rows = 0, cols = 0;
  RowMap map;  // of a vector: of its elements as the rows of a matrix with one column

  explicit operator bool() const { return tensor != nullptr; }
  uint32_t codec() const;  // of the rows that read_rows() gives
  int64_t elements() const { return rows * cols; }
  uint64_t bytes() const;  // of all rows, as read_rows() gives them
  std::string name() const { return std::string(tensor->name); }
};

}  // namespace colibri::model
