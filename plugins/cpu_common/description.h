// SPDX-License-Identifier: Apache-2.0
// Understanding a colibri_op_desc: which operators, attributes, codecs and shapes the CPU plugins
// compute.
#pragma once

#include "colibri/kernels.h"
#include "plugins/cpu_common/operators.h"

namespace colibri::cpu {

enum class Weights {
  kAnyLayout,  // row-major ones are still to be packed
  kPacked      // as op_create gets them
};

// Fills in everything of *state but operator_code and math. False: not computed here, and why_not
// says why. [any]
bool understand(const colibri_op_desc* desc, Weights weights, OperatorState* state,
                char why_not[128]);

}  // namespace colibri::cpu
