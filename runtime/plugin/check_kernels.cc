// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "colibri/kernels.h"
#include "runtime/plugin/check_parts.h"
#include "runtime/plugin/operator_text.h"

namespace colibri::plugin {
namespace {

constexpr size_t kMostAttributeBytes = 256;

colibri_tensor weight(uint32_t dtype, uint32_t layout, uint32_t rank, int64_t rows, int64_t cols) {
  colibri_tensor tensor = {};
  tensor.struct_size = sizeof(tensor);
  tensor.dtype = dtype;
  tensor.layout = layout;
  tensor.rank = rank;
  tensor.shape[0] = rows;
  tensor.shape[1] = cols;
  return tensor;
}

// Weights that make no sense, or hardly any.
std::vector<colibri_tensor> odd_weights() {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  return {weight(COLIBRI_CODEC_F32, COLIBRI_LAYOUT_ROWS, 2, 0, 0),
          weight(COLIBRI_CODEC_F32, COLIBRI_LAYOUT_ROWS, 2, -1, 64),
          weight(COLIBRI_CODEC_F32, COLIBRI_LAYOUT_ROWS, 9, 8, 8),
          weight(COLIBRI_CODEC_Q4_0, COLIBRI_LAYOUT_ROWS, 2, kHuge, kHuge),
          weight(COLIBRI_CODEC_Q8_0, COLIBRI_LAYOUT_R8, 2, 8, 33),
          weight(9999, COLIBRI_LAYOUT_ROWS, 2, 8, 32),
          weight(COLIBRI_CODEC_F16, 0xffffffff, 2, 8, 32)};
}

Status ask(const colibri_kernels_0& table, const colibri_op_desc& desc, const colibri_host* host) {
  char why_not[128] = {};
  const int32_t answer = table.supports(&desc, why_not);
  if (answer != 0 && answer != 1) return internal_error("supports gives neither 0 nor 1");
  if (strnlen(why_not, sizeof(why_not)) == sizeof(why_not)) {
    return internal_error("supports writes a reason that does not end");
  }
  if (answer == 0 && why_not[0] == '\0') return internal_error("supports says no without a reason");
  colibri_error error = empty_error();
  colibri_op_info info = {sizeof(info), 0, 0};
  COLIBRI_TRY(
      expect_reason("op_create", table.op_create(&desc, host, nullptr, &info, &error), error));
  for (uint32_t index = 0; index < 3; ++index) {
    colibri_layout layout = {};
    layout.struct_size = sizeof(layout);
    uint64_t bytes = 0;
    error = empty_error();
    const colibri_status code = table.pack_layout(&desc, index, &layout, &bytes, &error);
    COLIBRI_TRY(expect_reason("pack_layout", code, error));
    if (code == COLIBRI_OK && index >= desc.weight_count) {
      return internal_error("pack_layout takes a weight that is not there");
    }
  }
  return {};
}

}  // namespace

Status check_kernels_bad_input(const Plugin& plugin) {
  const auto& table = *plugin.interface<colibri_kernels_0>("colibri.kernels/0");
  const Host host(plugin.id(), sample_options(plugin.manifest()));
  for (uint32_t op = 0; op <= COLIBRI_OP_COUNT; ++op) {
    for (const int fill : {0x00, 0x01, 0x7f, 0xff}) {
      alignas(8) unsigned char attributes[kMostAttributeBytes];
      std::memset(attributes, fill, sizeof(attributes));
      const uint32_t size = op < COLIBRI_OP_COUNT ? colibri_attribute_size[op] : 64;
      std::memcpy(attributes, &size, sizeof(size));
      colibri_op_desc desc = {sizeof(desc), op, attributes, nullptr, 0, 1};
      const auto ask_about = [&]() -> Status {
        const Status status = ask(table, desc, host.get());
        return status.at(op == 0 || op >= COLIBRI_OP_COUNT ? "unknown operator"
                                                           : operator_name(op));
      };
      COLIBRI_TRY(ask_about());
      desc.max_rows = std::numeric_limits<int64_t>::max();
      COLIBRI_TRY(ask_about());
      for (const colibri_tensor& odd : odd_weights()) {
        const colibri_tensor weights[3] = {odd, odd, odd};
        desc.weights = weights;
        for (desc.weight_count = 1; desc.weight_count <= 3; ++desc.weight_count) {
          for (const int64_t rows : {int64_t{-1}, int64_t{0}, int64_t{1}}) {
            desc.max_rows = rows;
            COLIBRI_TRY(ask_about());
          }
        }
      }
    }
  }
  return {};
}

}  // namespace colibri::plugin
