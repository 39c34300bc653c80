// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu_common/pack.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu_common/interleave.h"
#include "plugins/cpu_common/layouts.h"
#include "plugins/cpu_common/quantize_weights.h"
#include "runtime/base/small_floats.h"

namespace colibri::cpu {
namespace {

template <typename T>
T load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// The rows to pack; rank 1 is one row.
struct Source {
  const uint8_t* bytes;
  int64_t rows, cols, stride;
  uint32_t codec;

  const uint8_t* row(int64_t i) const { return bytes + i * stride; }
  float number(int64_t i, int64_t column) const {  // of a float codec
    switch (codec) {
      case COLIBRI_CODEC_F16:
        return f32_from_f16(load<uint16_t>(row(i) + column * 2));
      case COLIBRI_CODEC_BF16:
        return f32_from_bf16(load<uint16_t>(row(i) + column * 2));
      default:
        return load<float>(row(i) + column * 4);
    }
  }
};

void store_number(uint32_t codec, uint8_t* to, int64_t index, float number) {
  const uint16_t half = codec == COLIBRI_CODEC_F16 ? f16_from_f32(number) : bf16_from_f32(number);
  if (codec == COLIBRI_CODEC_F32) {
    std::memcpy(to + index * 4, &number, 4);
  } else {
    std::memcpy(to + index * 2, &half, 2);
  }
}

// The same bytes, so that even a NaN keeps its own.
template <typename Number>
void interleave(const Source& from, int64_t first_row, uint8_t* panel) {
  for (int64_t r = 0; r < kPanelRows && first_row + r < from.rows; ++r) {
    const uint8_t* row = from.row(first_row + r);
    for (int64_t column = 0; column < from.cols; ++column) {
      std::memcpy(panel + (column * kPanelRows + r) * static_cast<int64_t>(sizeof(Number)),
                  row + column * static_cast<int64_t>(sizeof(Number)), sizeof(Number));
    }
  }
}

void pack_float_panel(uint32_t codec, const Source& from, int64_t first_row, uint8_t* panel) {
  std::memset(panel, 0, static_cast<size_t>(panel_bytes(codec, from.cols)));
  if (from.codec == codec && codec == COLIBRI_CODEC_F32)
    return interleave<uint32_t>(from, first_row, panel);
  if (from.codec == codec) return interleave<uint16_t>(from, first_row, panel);
  for (int64_t r = 0; r < kPanelRows && first_row + r < from.rows; ++r) {
    for (int64_t column = 0; column < from.cols; ++column) {
      store_number(codec, panel, column * kPanelRows + r, from.number(first_row + r, column));
    }
  }
}

void block_numbers(const Source& from, int64_t row, int64_t block, float numbers[32]) {
  for (int64_t i = 0; i < kBlockCols; ++i) numbers[i] = from.number(row, block * kBlockCols + i);
}

void pack_quantised_panel(uint32_t codec, const Source& from, int64_t first_row, uint8_t* panel) {
  const int64_t count = std::min(kPanelRows, from.rows - first_row);
  if (count < kPanelRows) std::memset(panel, 0, static_cast<size_t>(panel_bytes(codec, from.cols)));
  if (from.codec == codec)
    return interleave_rows(codec, from.row(first_row), from.stride, count, from.cols, panel);
  constexpr int64_t kMostBytes = 34;  // of a block: q8_0
  const int64_t bytes = codec_facts(codec)->bytes;
  const int64_t block_bytes = panel_block(codec).bytes();
  for (int64_t block = 0; block < from.cols / kBlockCols; ++block, panel += block_bytes) {
    uint8_t blocks[kPanelRows * kMostBytes];
    for (int64_t r = 0; r < count; ++r) {
      float numbers[32];
      block_numbers(from, first_row + r, block, numbers);
      quantize_weights(codec, numbers, blocks + r * bytes);
    }
    interleave_rows(codec, blocks, bytes, count, kBlockCols, panel);
  }
}

void pack_rows(uint32_t codec, const Source& from, uint8_t* to) {
  for (int64_t row = 0; row < from.rows; ++row) {
    const int64_t row_bytes = file_row_bytes(codec, from.cols);
    uint8_t* row_to = to + row * row_bytes;
    if (is_decoded_codec(codec)) {
      std::memcpy(row_to, from.row(row), static_cast<size_t>(row_bytes));
      continue;
    }
    for (int64_t column = 0; column < from.cols; ++column)
      store_number(codec, row_to, column, from.number(row, column));
  }
}

void pack_panel(uint32_t codec, const Source& from, int64_t first_row, uint8_t* panel) {
  is_quantised_codec(codec) ? pack_quantised_panel(codec, from, first_row, panel)
                            : pack_float_panel(codec, from, first_row, panel);
}

}  // namespace

void choose_layout(const OperatorState& state, colibri_layout* layout, uint64_t* bytes) {
  const bool is_rows = state.weight_layout == COLIBRI_LAYOUT_ROWS;
  const CodecFacts& facts = *codec_facts(state.weight_codec);
  layout->id = state.weight_layout;
  layout->codec = state.weight_codec;
  layout->rows = is_rows ? 1 : kPanelRows;
  layout->group = is_quantised_codec(facts.id) ? 4 : static_cast<uint32_t>(facts.elements);
  layout->scale_place = facts.elements > 1 ? 1 : 0;
  *bytes =
      static_cast<uint64_t>(is_rows ? state.rows * file_row_bytes(facts.id, state.cols)
                                    : panels_of(state.rows) * panel_bytes(facts.id, state.cols));
}

colibri_status pack(const colibri_layout* layout, const colibri_tensor* from, void* to,
                    int64_t row_begin) {
  if (layout == nullptr || from == nullptr || to == nullptr ||
      layout->struct_size < sizeof(*layout) || from->struct_size < sizeof(*from) ||
      from->buffer == nullptr || from->layout != COLIBRI_LAYOUT_ROWS ||
      (from->rank != 1 && from->rank != 2)) {
    return COLIBRI_INVALID_ARGUMENT;
  }
  const Source source = {static_cast<const uint8_t*>(from->buffer) + from->offset,
                         from->rank == 1 ? 1 : from->shape[0], from->shape[from->rank - 1],
                         from->rank == 1 ? 0 : from->stride[0], from->dtype};
  const bool is_rows = layout->id == COLIBRI_LAYOUT_ROWS;
  const uint32_t codec = layout->codec;
  if (!is_rows && layout->id != COLIBRI_LAYOUT_R8) return COLIBRI_UNSUPPORTED;
  const CodecFacts* facts = codec_facts(codec);
  if (facts == nullptr || !facts->weights) return COLIBRI_UNSUPPORTED;
  // floats stand in either layout, every other codec in its own
  if (!is_float_codec(codec) && is_decoded_codec(codec) != is_rows) return COLIBRI_UNSUPPORTED;
  const bool converts =
      is_float_codec(source.codec) && (is_float_codec(codec) || can_quantize_to(codec));
  if (!converts && source.codec != codec) return COLIBRI_UNSUPPORTED;
  if (source.cols % facts->elements != 0) return COLIBRI_INVALID_ARGUMENT;
  if (row_begin < 0 || source.rows < 0 || source.cols < 1) return COLIBRI_INVALID_ARGUMENT;
  auto* bytes = static_cast<uint8_t*>(to);
  if (is_rows) {
    pack_rows(codec, source, bytes + row_begin * file_row_bytes(codec, source.cols));
    return COLIBRI_OK;
  }
  if (row_begin % kPanelRows != 0) return COLIBRI_INVALID_ARGUMENT;
  for (int64_t row = 0; row < source.rows; row += kPanelRows) {
    pack_panel(codec, source, row,
               bytes + (row_begin + row) / kPanelRows * panel_bytes(codec, source.cols));
  }
  return COLIBRI_OK;
}

}  // namespace colibri::cpu
