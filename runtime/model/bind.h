// SPDX-License-Identifier: Apache-2.0
// Binding: an architecture document applied to a model gives its ModelSpec.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/architecture.h"
#include "runtime/model/source.h"
#include "runtime/model/spec.h"

namespace colibri::model {

// The documents that `wanted` (model.architecture of a pipeline) chooses from: those of the
// installation, or for a name that ends in .yaml this one alone.
Result<std::vector<config::Architecture>> known_architectures(const std::string& wanted);

// The architecture that is wanted: "auto" = the one whose `match` fits the model's metadata, a
// name, or the only one of a .yaml. Errors list what was compared and what is known.
Result<const config::Architecture*> match(const ModelSource& source,
                                          const std::vector<config::Architecture>& known,
                                          const std::string& wanted);

// Evaluates the document on the model's metadata, checks the hyperparameters, and binds every
// tensor. All problems are reported, one a line: missing or wrong metadata, tensors that are
// missing or have another shape, tensors that nothing uses. The spec points into the source, which
// must outlive it.
Result<ModelSpec> bind(const ModelSource& source, const config::Architecture& architecture);

}  // namespace colibri::model
