// SPDX-License-Identifier: Apache-2.0
// The numbers of a ModelSpec: evaluated from the architecture document, and checked against each
// other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/config/architecture.h"
#include "runtime/model/problems.h"
#include "runtime/model/references.h"
#include "runtime/model/source.h"
#include "runtime/model/spec.h"

namespace colibri::model {

// Fills the numbers of the spec and makes its layers: each has its window, and either so many experts
// or a dense ffn (dense.inner > 0), with no weights yet. A model has no more layers than `tensors`,
// its number of tensors. Adds each problem to `problems`; if there is none, the numbers are sound.
void read_hyperparameters(const config::Architecture& architecture, const Dimensions& dimensions,
                          size_t tensors, ModelSpec* spec, Problems* problems);

// The ids that begin and end a sequence, from config.json and generation_config.json or from the
// keys tokenizer.ggml.* (end of text, of turn and of message), checked against the vocabulary.
void read_special_ids(const ModelSource& source, ModelSpec* spec, Problems* problems);

}  // namespace colibri::model
