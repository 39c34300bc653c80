// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/trial.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/bench/attention_trial.h"
#include "runtime/bench/product.h"
#include "runtime/bench/row_trial.h"
#include "runtime/model/codecs.h"
#include "runtime/plugin/operator_text.h"

namespace colibri::bench {
Result<plugin::KernelChooser> Trial::pinned(const engine::Plan& plan, const std::string& plugin_id,
                                            const engine::OperatorDesc& of) {
  const std::map<std::string, std::string> pin = {{plugin::operator_name(of.get().op), plugin_id}};
  return plugin::KernelChooser::create(*plan.registry, pin);
}

Status Trial::create_operator(const engine::OperatorDesc& of,
                              std::vector<engine::Packing>* packings) {
  COLIBRI_ASSIGN(operator_, operators_.add("bench", of, packings));
  return {};
}

Result<colibri_tensor> Trial::pack_zeros(const engine::Packing& packing,
                                         const colibri_tensor& asked, std::byte* to) const {
  const auto block = model::codec_block(asked.dtype);
  const int64_t cols = asked.rank == 1 ? asked.shape[0] : asked.shape[1];
  const int64_t rows = asked.rank == 1 ? 1 : asked.shape[0];
  const uint64_t row_bytes = static_cast<uint64_t>(cols / block->elements) * block->bytes;
  COLIBRI_ASSIGN(const Memory zeros,
                 Memory::allocate(row_bytes * static_cast<uint64_t>(rows), "zeros"));
  colibri_tensor from = asked;
  from.layout = COLIBRI_LAYOUT_ROWS;
  from.stride[0] = static_cast<int64_t>(asked.rank == 1 ? 4 : row_bytes);
  from.buffer = zeros.data();
  if (packing.packer->pack(&packing.layout, &from, to, 0) != COLIBRI_OK) {
    return internal_error("plugin " + op().choice().plugin->id() + ": packing failed");
  }
  colibri_tensor weight = asked;
  weight.layout = packing.layout.id;
  weight.buffer = to;
  return weight;
}

Result<std::unique_ptr<Trial>> create_trial(const engine::Plan& plan, const std::string& plugin_id,
                                            const engine::OperatorDesc& of, const Shape& most) {
  switch (of.get().op) {
    case COLIBRI_OP_GROUPED_MATMUL:
      return Product::create_cycle(plan, plugin_id, of, most.groups, kBeyondCaches);
    case COLIBRI_OP_KV_WRITE:
    case COLIBRI_OP_ATTENTION:
    case COLIBRI_OP_MLA_ATTENTION:
      return AttentionTrial::create(plan, plugin_id, of, most.rows,
                                    {plan.max_tokens, kBeyondCaches});
    default:
      return RowTrial::create(plan, plugin_id, of, most.rows);
  }
}

}  // namespace colibri::bench
