// SPDX-License-Identifier: Apache-2.0
#include "runtime/convert/tensor.h"

#include <cstring>
#include <string>

#include "runtime/base/memory.h"
#include "runtime/base/panel_layout.h"
#include "runtime/base/utf8.h"
#include "runtime/engine/weights.h"
#include "runtime/model/codecs.h"
#include "runtime/model/rows.h"

namespace colibri::convert {
namespace {

// The rows of a weight as they are.
Status read_plain(const model::ModelSource& source, const model::Weight& weight, std::byte* to) {
  COLIBRI_ASSIGN(
      const Memory scratch,
      Memory::allocate(model::rows_scratch_bytes(weight, weight.rows), "reading " + weight.name()));
  COLIBRI_TRY(model::read_rows(source, weight, 0, weight.rows, to, scratch.data()));
  return model::check_finite(weight.codec(), to, weight.bytes(), weight.tensor->name)
      .at(source.files().path());
}

// The head of a block of eight rows: exponents of mxfp4 (255 is NaN), else scales and minima as f16.
bool is_finite_head(uint32_t codec, const std::byte* head, int64_t bytes) {
  const int64_t size = codec == COLIBRI_CODEC_MXFP4 ? 1 : 2;
  for (int64_t i = 0; i < bytes; i += size) {
    uint16_t bits = 0;
    std::memcpy(&bits, head + i, static_cast<size_t>(size));
    if (size == 1 ? bits == 0xff : (bits & 0x7c00) == 0x7c00) return false;
  }
  return true;
}

}  // namespace

Status make_tensor(const engine::Plan& plan, const Item& item, std::byte* to, std::byte* staging) {
  if (item.placed == nullptr) return read_plain(*plan.source, *item.weight, to);
  return engine::load_weight(*plan.source, *item.weight, *item.placed, to, staging);
}

Status check_finite(const model::TensorEntry& tensor, const std::byte* bytes) {
  const std::string name = "tensor " + utf8::printable(tensor.name);
  const PanelBlock block = panel_block(tensor.codec);
  // Numbers that are stored one by one are the same in any order.
  if (tensor.layout == COLIBRI_LAYOUT_ROWS || block.cols == 0) {
    return model::check_finite(tensor.codec, bytes, tensor.bytes, name);
  }
  const auto step = static_cast<uint64_t>(block.bytes());
  for (uint64_t at = 0; at + step <= tensor.bytes; at += step) {
    if (is_finite_head(tensor.codec, bytes + at, block.head)) continue;
    return corrupt_data(name + ": the scales of the block at byte " + std::to_string(at) +
                        " are NaN or infinite");
  }
  return {};
}

}  // namespace colibri::convert
