// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/rows.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/decode_row.h"
#include "runtime/model/codecs.h"
#include "runtime/model/stored_rows.h"

namespace colibri::model {
namespace {

// A run of rows that is at least this long is worth a read of its own.
constexpr uint64_t kLongRun = 16 << 10;
// So are runs that are less than one in so many rows.
constexpr int64_t kSparse = 8;

bool is_transposed(const RowMap& map) {
  return map.transpose || map.transpose_groups;
}

// The elements of a vector are the rows of its map.
bool is_vector_map(const Weight& weight) {
  return weight.rows == 1 && weight.map.cols == 1 && !is_transposed(weight.map) && weight.cols > 1;
}

bool is_plain(uint32_t codec) {
  return codec_block(codec)->elements == 1;
}

// Whether each element can be read by itself.
bool is_direct(const Weight& weight) {
  return weight.scales == nullptr && is_plain(weight.tensor->codec);
}

uint64_t aligned(uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

// Row of the map's matrix (after transposing) that is row r of those meant.
int64_t meant(const RowMap& map, int64_t r) {
  return r / map.count * map.group + map.from + r % map.count;
}

// Rows of the matrix between the first and the last of n rows that are meant, both included, at
// most.
int64_t span_of(const RowMap& map, int64_t n) {
  return ((n + map.count - 2) / map.count + 1) * map.group;
}

// ---- rows that stay rows ----

// Whether runs are read one by one: else all that lies between the first and the last.
bool reads_runs(const Weight& weight) {
  const RowMap& map = weight.map;
  return map.count == map.group || map.group / map.count > kSparse ||
         static_cast<uint64_t>(map.count) * stored_row_bytes(weight) >= kLongRun;
}

uint64_t straight_scratch_bytes(const Weight& weight, int64_t n) {
  if (reads_runs(weight)) return stored_scratch_bytes(weight, n);
  const int64_t span = span_of(weight.map, n);
  return aligned(static_cast<uint64_t>(span) * stored_row_bytes(weight)) +
         stored_scratch_bytes(weight, span);
}

Status read_straight(const ModelSource& source, const Weight& weight, int64_t begin, int64_t end,
                     std::byte* to, std::byte* scratch) {
  const RowMap& map = weight.map;
  const uint64_t bytes = stored_row_bytes(weight);
  const auto run_from = [&](int64_t r) {
    return map.count == map.group ? end - r : std::min(map.count - r % map.count, end - r);
  };
  if (reads_runs(weight) || run_from(begin) == end - begin) {
    for (int64_t r = begin; r < end; r += run_from(r)) {
      COLIBRI_TRY(read_stored_rows(source, weight, meant(map, r), run_from(r),
                                   to + static_cast<uint64_t>(r - begin) * bytes, scratch));
    }
    return {};
  }
  const int64_t first = meant(map, begin), span = meant(map, end - 1) + 1 - first;
  COLIBRI_TRY(read_stored_rows(source, weight, first, span, scratch,
                               scratch + aligned(static_cast<uint64_t>(span) * bytes)));
  for (int64_t r = begin; r < end; r += run_from(r)) {
    std::memcpy(to + static_cast<uint64_t>(r - begin) * bytes,
                scratch + static_cast<uint64_t>(meant(map, r) - first) * bytes,
                static_cast<uint64_t>(run_from(r)) * bytes);
  }
  return {};
}

// ---- rows that are columns of what is stored ----

// Columns [col, col + width) of rows [row, row + n) of the map's matrix as it is stored.
struct Block {
  int64_t row = 0, n = 0, col = 0, width = 0;
};

uint64_t transposed_scratch_bytes(const Weight& weight) {
  const uint64_t row = aligned(stored_row_bytes(weight));
  if (is_direct(weight)) return row;
  return aligned(static_cast<uint64_t>(weight.map.cols) * sizeof(float)) + row +
         stored_scratch_bytes(weight, 1);
}

// One row of the block at scratch, as plain numbers.
Status read_row(const ModelSource& source, const Weight& weight, const Block& block, int64_t j,
                std::byte* scratch) {
  const RowMap& map = weight.map;
  if (is_direct(weight)) {
    const uint64_t element = codec_block(weight.tensor->codec)->bytes;
    const int64_t at = (map.first + block.row + j) * map.cols + block.col;
    return source.read(*weight.tensor, static_cast<uint64_t>(at) * element, scratch,
                       static_cast<uint64_t>(block.width) * element);
  }
  // All else is decoded whole rows at a time.
  auto* numbers = reinterpret_cast<float*>(scratch);
  std::byte* row = scratch + aligned(static_cast<uint64_t>(map.cols) * sizeof(float));
  COLIBRI_TRY(read_stored_rows(source, weight, block.row + j, 1, row,
                               row + aligned(stored_row_bytes(weight))));
  decode_row(stored_codec(weight), reinterpret_cast<const uint8_t*>(row), map.cols, numbers);
  std::memmove(numbers, numbers + block.col, static_cast<size_t>(block.width) * sizeof(float));
  return {};
}

// Puts element (j, k) of the block to element j of the row place(k). place gives nullptr for
// columns that are not meant.
template <typename Place>
Status read_columns(const ModelSource& source, const Weight& weight, const Block& block,
                    std::byte* scratch, Place place) {
  const uint64_t element = codec_block(weight.codec())->bytes;
  for (int64_t j = 0; j < block.n; ++j) {
    COLIBRI_TRY(read_row(source, weight, block, j, scratch));
    for (int64_t k = 0; k < block.width; ++k) {
      std::byte* row = place(k);
      if (row == nullptr) continue;
      std::memcpy(row + static_cast<uint64_t>(j) * element,
                  scratch + static_cast<uint64_t>(k) * element, element);
    }
  }
  return {};
}

Status read_transposed(const ModelSource& source, const Weight& weight, int64_t begin, int64_t end,
                       std::byte* to, std::byte* scratch) {
  const RowMap& map = weight.map;
  const int64_t col = meant(map, begin);
  const Block block = {0, map.rows, col, meant(map, end - 1) - col + 1};
  const uint64_t bytes = row_bytes(weight);
  return read_columns(source, weight, block, scratch, [&](int64_t k) -> std::byte* {
    const int64_t in_group = (col + k) % map.group - map.from;
    if (in_group < 0 || in_group >= map.count) return nullptr;
    const int64_t r = (col + k) / map.group * map.count + in_group;
    return to + static_cast<uint64_t>(r - begin) * bytes;
  });
}

// Each group gives as many rows as the stored matrix has columns.
Status read_transposed_groups(const ModelSource& source, const Weight& weight, int64_t begin,
                              int64_t end, std::byte* to, std::byte* scratch) {
  const RowMap& map = weight.map;
  const uint64_t bytes = row_bytes(weight);
  for (int64_t r = begin; r < end;) {
    const int64_t col = r % map.cols;
    const int64_t width = std::min(map.cols - col, end - r);
    const Block block = {r / map.cols * map.group + map.from, map.count, col, width};
    std::byte* rows = to + static_cast<uint64_t>(r - begin) * bytes;
    COLIBRI_TRY(read_columns(source, weight, block, scratch,
                             [&](int64_t k) { return rows + static_cast<uint64_t>(k) * bytes; }));
    r += width;
  }
  return {};
}

}  // namespace

uint32_t Weight::codec() const {
  const uint32_t stored = stored_codec(*this);
  return is_transposed(map) && !is_plain(stored) ? uint32_t{COLIBRI_CODEC_F32} : stored;
}

uint64_t Weight::bytes() const {
  return static_cast<uint64_t>(rows) * row_bytes(*this);
}

uint64_t row_bytes(const Weight& weight) {
  const CodecBlock block = *codec_block(weight.codec());
  return static_cast<uint64_t>(weight.cols / block.elements) * block.bytes;
}

uint64_t rows_scratch_bytes(const Weight& weight, int64_t n) {
  if (is_transposed(weight.map)) return transposed_scratch_bytes(weight);
  return straight_scratch_bytes(weight, is_vector_map(weight) ? weight.cols : n);
}

Status read_rows(const ModelSource& source, const Weight& weight, int64_t begin, int64_t end,
                 std::byte* to, std::byte* scratch) {
  if (weight.map.transpose) return read_transposed(source, weight, begin, end, to, scratch);
  if (weight.map.transpose_groups) {
    return read_transposed_groups(source, weight, begin, end, to, scratch);
  }
  if (is_vector_map(weight)) return read_straight(source, weight, 0, weight.cols, to, scratch);
  return read_straight(source, weight, begin, end, to, scratch);
}

}  // namespace colibri::model
