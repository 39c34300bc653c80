// SPDX-License-Identifier: Apache-2.0
// What a CPU kernel plugin is made of. The frontend (frontend.h) understands descriptions, packs
// weights, checks arguments and splits calls into tasks; the plugin brings the code of each
// operator.
#pragma once

#include <cstdint>

#include "colibri/kernels.h"

namespace colibri::cpu {

struct OperatorState;

struct TaskRange {
  int64_t begin, end;
};

// The code of one operator.
struct Operator {
  // Runs tasks of a call whose arguments have been checked (arguments.h). Errors: a row, id or
  // position that points outside of its tensor. [worker]
  colibri_status (*run)(const OperatorState& state, const void* arguments, TaskRange tasks,
                        void* scratch);
  // Bytes that run() may use of its scratch; NULL = none. [setup]
  int64_t (*scratch_bytes)(const OperatorState& state);
};

// All of a plugin's operators, by COLIBRI_OP_*.
struct Operators {
  Operator code[COLIBRI_OP_COUNT];
};

// What the host keeps for a created operator: the description, understood. Plain memory.
struct OperatorState {
  uint32_t op;
  uint32_t weight_codec;   // of every weight; COLIBRI_CODEC_NONE = the operator has none
  uint32_t weight_layout;  // of every weight when it is packed
  int64_t rows, cols;      // of every weight; the weight of a norm is one row
  const Operator* operator_code;
  const colibri_math* math;  // the host's
  union {
    colibri_embed_attributes embed;
    colibri_norm_attributes norm;
    colibri_quantize_rows_attributes quantize_rows;
    colibri_grouped_matmul_attributes grouped_matmul;
    colibri_rope_attributes rope;
    colibri_kv_write_attributes kv_write;
    colibri_attention_attributes attention;
    colibri_mla_attention_attributes mla_attention;
    colibri_router_attributes router;
    colibri_combine_attributes combine;
  };
};

}  // namespace colibri::cpu
