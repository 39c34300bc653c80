// SPDX-License-Identifier: Apache-2.0
// Neighbouring rows of the matrix that a weight is part of, as blocks of a codec, wherever their
// numbers and scales stand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/model/source.h"
#include "runtime/model/weight.h"

namespace colibri::model {

// The codec of those rows: that of the tensor, or the one that a tensor and its scales make up.
uint32_t stored_codec(const Weight& weight);
uint64_t stored_row_bytes(const Weight& weight);  // of map.cols elements

// Memory that reading n rows works in; 0 if they stand in the file as they are.
uint64_t stored_scratch_bytes(const Weight& weight, int64_t n);

// Puts rows [row, row + n) of the map's matrix, as it is stored, to `to`. [any thread]
Status read_stored_rows(const ModelSource& source, const Weight& weight, int64_t row, int64_t n,
                        std::byte* to, std::byte* scratch);

}  // namespace colibri::model
