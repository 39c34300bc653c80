// SPDX-License-Identifier: Apache-2.0
// Binding: an architecture document applied to a model gives its ModelSpec.
#pragma once

#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/architecture.h"
#include "runtime/model/source.h"
#include "runtime/model/spec.h"

namespace colibri::model {

// The architecture whose `match` fits the model's metadata; an error lists what was compared and
// what is known. `name` asks for one by name ("" = by match).
Result<const config::Architecture*> match(const ModelSource& source,
                                          const std::vector<config::Architecture>& known,
                                          std::string_view name = {});

// Evaluates the document on the model's metadata, checks the hyperparameters, and binds every
// tensor. All problems are reported, one a line: missing or wrong metadata, tensors that are
// missing or have another shape, tensors that nothing uses. The spec points into the source, which
// must outlive it.
Result<ModelSpec> bind(const ModelSource& source, const config::Architecture& architecture);

}  // namespace colibri::model
