// SPDX-License-Identifier: Apache-2.0
// Reads the rows of a weight, however they lie in its tensor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/model/source.h"
#include "runtime/model/weight.h"

namespace colibri::model {

// Bytes of one row in weight.codec().
uint64_t row_bytes(const Weight& weight);

// Memory that reading up to n rows at once works in; 0 if they stand in the file as they are wanted.
uint64_t rows_scratch_bytes(const Weight& weight, int64_t n);

// Puts rows [begin, end) of a bound weight, in weight.codec(), to `to`: (end - begin) * row_bytes.
// scratch has the bytes that were asked for, 64-byte aligned. Rows that are neighbours in the file take one read.
// Allocates nothing, but for messages of failures. [any thread]
Status read_rows(const ModelSource& source, const Weight& weight, int64_t begin, int64_t end,
                 std::byte* to, std::byte* scratch);

}  // namespace colibri::model
