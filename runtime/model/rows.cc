// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/rows.h"

#include <algorithm>
#include <cstring>

#include "runtime/model/codecs.h"

namespace colibri::model {
namespace {

// A run of rows that is at least this long is worth a read of its own.
constexpr uint64_t kLongRun = 16 << 10;
// So are runs that are less than one in so many rows.
constexpr int64_t kSparse = 8;
// What is read at once of a matrix that is transposed, unless a single row is longer.
constexpr uint64_t kTransposedBytes = 256 << 10;

bool is_vector_map(const Weight& weight) {
  return weight.rows == 1 && weight.map.cols == 1 && !weight.map.transpose && weight.cols > 1;
}

bool is_transposed(const RowMap& map) {
  return map.transpose || map.transpose_groups;
}

// Row of the map's matrix (after transposing) that is row r of those meant.
int64_t meant(const RowMap& map, int64_t r) {
  return r / map.count * map.group + map.from + r % map.count;
}

uint64_t stored_bytes(const Weight& weight, int64_t elements) {
  const CodecBlock block = *codec_block(weight.tensor->codec);
  return static_cast<uint64_t>(elements / block.elements) * block.bytes;
}

// Rows of the matrix between the first and the last of n rows that are meant, both included.
int64_t span_of(const RowMap& map, int64_t n) {
  return ((n + map.count - 2) / map.count + 1) * map.group;
}

// Whether runs are read one by one: else all that lies between the first and the last.
bool reads_runs(const Weight& weight) {
  const RowMap& map = weight.map;
  return map.count == map.group || map.group / map.count > kSparse ||
         static_cast<uint64_t>(map.count) * stored_bytes(weight, map.cols) >= kLongRun;
}

Status read_straight(const ModelSource& source, const Weight& weight, int64_t begin, int64_t end,
                     std::byte* to, std::byte* scratch) {
  const RowMap& map = weight.map;
  const uint64_t bytes = stored_bytes(weight, map.cols);
  const auto offset = [&](int64_t r) {
    return static_cast<uint64_t>(map.first + meant(map, r)) * bytes;
  };
  const auto run_from = [&](int64_t r) {
    return map.count == map.group ? end - r : std::min(map.count - r % map.count, end - r);
  };
  if (reads_runs(weight) || run_from(begin) == end - begin) {
    for (int64_t r = begin; r < end; r += run_from(r)) {
      COLIBRI_TRY(source.read(*weight.tensor, offset(r),
                              to + static_cast<uint64_t>(r - begin) * bytes,
                              static_cast<uint64_t>(run_from(r)) * bytes));
    }
    return {};
  }
  const uint64_t first = offset(begin);
  COLIBRI_TRY(source.read(*weight.tensor, first, scratch, offset(end - 1) + bytes - first));
  for (int64_t r = begin; r < end; r += run_from(r)) {
    std::memcpy(to + static_cast<uint64_t>(r - begin) * bytes, scratch + (offset(r) - first),
                static_cast<uint64_t>(run_from(r)) * bytes);
  }
  return {};
}

// Columns [col, col + width) of rows [row, row + n) of a tensor whose rows have `pitch` elements.
struct Block {
  int64_t row = 0, n = 0, col = 0, width = 0, pitch = 0;
};

// Rows that are read at once: those of a block that is as wide as the tensor follow each other.
int64_t rows_at_once(int64_t width, int64_t pitch, uint64_t element) {
  if (width != pitch) return 1;
  const auto row = static_cast<uint64_t>(width) * element;
  return static_cast<int64_t>(std::max<uint64_t>(kTransposedBytes / row, 1));
}

// Element j of the output row place(k), for every row j and column k of the block. place gives
// nullptr for columns that are not meant.
template <typename Place>
Status read_columns(const ModelSource& source, const Weight& weight, const Block& block,
                    std::byte* scratch, Place place) {
  const uint64_t element = stored_bytes(weight, 1);
  const int64_t step = rows_at_once(block.width, block.pitch, element);
  for (int64_t first = 0; first < block.n; first += step) {
    const int64_t n = std::min(step, block.n - first);
    const auto at = static_cast<uint64_t>((block.row + first) * block.pitch + block.col);
    COLIBRI_TRY(source.read(*weight.tensor, at * element, scratch,
                            static_cast<uint64_t>(n * block.width) * element));
    for (int64_t k = 0; k < block.width; ++k) {
      std::byte* row = place(k);
      if (row == nullptr) continue;
      for (int64_t j = 0; j < n; ++j) {
        std::memcpy(row + static_cast<uint64_t>(first + j) * element,
                    scratch + static_cast<uint64_t>(j * block.width + k) * element, element);
      }
    }
  }
  return {};
}

// The weight's rows are columns of the stored matrix.
Status read_transposed(const ModelSource& source, const Weight& weight, int64_t begin, int64_t end,
                       std::byte* to, std::byte* scratch) {
  const RowMap& map = weight.map;
  const int64_t col = meant(map, begin);
  const Block block = {map.first, map.rows, col, meant(map, end - 1) - col + 1, map.cols};
  return read_columns(source, weight, block, scratch, [&](int64_t k) -> std::byte* {
    const int64_t in_group = (col + k) % map.group - map.from;
    if (in_group < 0 || in_group >= map.count) return nullptr;
    const int64_t r = (col + k) / map.group * map.count + in_group;
    return to + static_cast<uint64_t>(r - begin) * row_bytes(weight);
  });
}

// Each group gives as many rows as the stored matrix has columns.
Status read_transposed_groups(const ModelSource& source, const Weight& weight, int64_t begin,
                              int64_t end, std::byte* to, std::byte* scratch) {
  const RowMap& map = weight.map;
  for (int64_t r = begin; r < end;) {
    const int64_t group = r / map.cols, col = r % map.cols;
    const int64_t width = std::min(map.cols - col, end - r);
    const Block block = {map.first + group * map.group + map.from, map.count, col, width, map.cols};
    std::byte* rows = to + static_cast<uint64_t>(r - begin) * row_bytes(weight);
    COLIBRI_TRY(read_columns(source, weight, block, scratch, [&](int64_t k) {
      return rows + static_cast<uint64_t>(k) * row_bytes(weight);
    }));
    r += width;
  }
  return {};
}

}  // namespace

uint64_t Weight::bytes() const {
  return static_cast<uint64_t>(rows) * row_bytes(*this);
}

uint64_t row_bytes(const Weight& weight) {
  const CodecBlock block = *codec_block(weight.codec());
  return static_cast<uint64_t>(weight.cols / block.elements) * block.bytes;
}

uint64_t rows_scratch_bytes(const Weight& weight, int64_t n) {
  const RowMap& map = weight.map;
  const uint64_t element = stored_bytes(weight, 1);
  if (is_transposed(map)) {
    const int64_t width =
        std::min(map.transpose ? span_of(map, n) : std::min(n, map.cols), map.cols);
    const int64_t most = map.transpose ? map.rows : map.count;
    const int64_t rows =
        std::max<int64_t>(std::min(rows_at_once(map.cols, map.cols, element), most), 1);
    return std::max(static_cast<uint64_t>(width) * element,
                    width == map.cols ? static_cast<uint64_t>(rows * width) * element : 0);
  }
  if (reads_runs(weight)) return 0;
  const int64_t rows = is_vector_map(weight) ? weight.cols : n;
  return static_cast<uint64_t>(span_of(map, rows)) * stored_bytes(weight, map.cols);
}

Status read_rows(const ModelSource& source, const Weight& weight, int64_t begin, int64_t end,
                 std::byte* to, std::byte* scratch) {
  if (weight.map.transpose) return read_transposed(source, weight, begin, end, to, scratch);
  if (weight.map.transpose_groups) {
    return read_transposed_groups(source, weight, begin, end, to, scratch);
  }
  // The elements of a vector are the rows of its map.
  if (is_vector_map(weight)) return read_straight(source, weight, 0, weight.cols, to, scratch);
  return read_straight(source, weight, begin, end, to, scratch);
}

}  // namespace colibri::model
