// SPDX-License-Identifier: Apache-2.0
// Reads all of a .colibri file and compares it with its checksums.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/convert/convert.h"
#include "runtime/model/source.h"

namespace colibri::convert {

// Every tensor has its checksum and holds finite numbers and scales, and every byte that belongs to
// nothing is zero: with what opening the source has compared, no bit of the file differs from what
// was written. All faults are told, one a line. COLIBRI_UNSUPPORTED for a model that is no .colibri file.
Status verify(const model::ModelSource& source, const Progress& progress);

// A damaged router looks like any other weight: whether each one of the file is, to the bit, what
// comes of the model it was made from. source: a plan with the file's codec for routers.
Status verify_routers(const model::ModelSource& file, const engine::Plan& source);

}  // namespace colibri::convert
