// SPDX-License-Identifier: Apache-2.0
#include "runtime/convert/layout.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/base/container.h"
#include "runtime/model/role_path.h"
#include "runtime/model/rows.h"

namespace colibri::convert {
namespace {

using Scope = config::TensorTemplate::Scope;

class Planner {
 public:
  explicit Planner(const engine::Plan& plan) : plan_(plan) {
    for (const engine::Placed& placed : plan.layers.dense) ++uses_[placed.weight].count;
    for (const engine::Placed& placed : plan.layers.dense) uses_[placed.weight].placed = &placed;
  }

  Layout make() {
    const model::ModelSpec& spec = plan_.spec;
    made_.end = container::kPage;
    for (const model::Weight* weight : {&spec.embedding, &spec.final_norm, &spec.rope_factors}) {
      add_dense(*weight, Scope::kModel, 0);
    }
    if (!spec.tied) add_dense(spec.head, Scope::kModel, 0);
    for (size_t l = 0; l < spec.layers.size(); ++l)
      add_layer(spec.layers[l], static_cast<int64_t>(l));
    made_.end = align_up(made_.end, container::kPage);
    made_.experts_begin = made_.end;
    for (size_t l = 0; l < spec.layers.size(); ++l) {
      for (size_t e = 0; e < spec.layers[l].experts.size(); ++e) {
        add_expert(spec.layers[l].experts[e], plan_.layers.layers[l].routed->expert,
                   static_cast<int64_t>(l), static_cast<int64_t>(e));
      }
    }
    return std::move(made_);
  }

 private:
  struct Use {
    const engine::Placed* placed = nullptr;
    int count = 0;
  };

  void add_layer(const model::LayerSpec& layer, int64_t l) {
    const std::vector<const model::Weight*> dense = layer.dense.weights();
    const std::vector<const model::Weight*> shared = layer.shared.weights();
    const auto is_in = [](const std::vector<const model::Weight*>& list,
                          const model::Weight* weight) {
      return std::find(list.begin(), list.end(), weight) != list.end();
    };
    for (const model::Weight* weight : layer.weights()) {
      const Scope scope = is_in(dense, weight)    ? Scope::kDense
                          : is_in(shared, weight) ? Scope::kShared
                                                  : Scope::kLayer;
      add_dense(*weight, scope, l);
    }
  }

  void add_dense(const model::Weight& weight, Scope scope, int64_t layer) {
    if (!weight) return;
    made_.end = align_up(made_.end, container::kPage);
    // A tied embedding is placed as the head.
    const bool tied = plan_.spec.tied && &weight == &plan_.spec.embedding;
    const auto use = uses_.find(tied ? &plan_.spec.head : &weight);
    const engine::Placed* placed = use == uses_.end() ? nullptr : use->second.placed;
    if (tied && placed == nullptr) {
      const auto own = uses_.find(&weight);
      placed = own == uses_.end() ? nullptr : own->second.placed;
    }
    const bool whole = placed != nullptr && placed->first_row == 0 &&
                       placed->rows() == weight.rows && use->second.count == 1;
    add(weight, whole ? placed : nullptr, {weight.role, scope, layer, 0}, made_.end);
  }

  void add_expert(const model::FfnSpec& expert, const engine::Ffn& placed, int64_t layer,
                  int64_t index) {
    const std::pair<const model::Weight*, const engine::Placed*> parts[] = {
        {&expert.gate, placed.gate},       {&expert.up, placed.up},
        {&expert.down, placed.down},       {&expert.gate_bias, placed.gate_bias},
        {&expert.up_bias, placed.up_bias}, {&expert.down_bias, placed.down_bias}};
    const uint64_t bundle = align_up(made_.end, container::kPage);
    for (const auto& [weight, where] : parts) {
      if (where == nullptr) continue;
      add(*weight, where, {weight->role, Scope::kExpert, layer, index}, bundle + where->offset);
    }
  }

  void add(const model::Weight& weight, const engine::Placed* placed, const model::RoleKey& key,
           uint64_t offset) {
    Item item;
    item.weight = &weight;
    if (placed != nullptr && placed->packing.layout.id < COLIBRI_LAYOUT_PRIVATE)
      item.placed = placed;
    item.entry.name = model::role_path(key);
    item.entry.codec = item.placed == nullptr ? weight.codec() : placed->packing.layout.codec;
    item.entry.layout =
        item.placed == nullptr ? uint32_t{COLIBRI_LAYOUT_ROWS} : placed->packing.layout.id;
    const bool is_vector = weight.rows == 1 && weight.map.cols == 1;
    item.entry.shape = is_vector ? std::vector{weight.cols} : std::vector{weight.rows, weight.cols};
    item.entry.offset = offset;
    item.entry.bytes = item.placed == nullptr ? weight.bytes() : placed->packing.bytes;
    made_.end = offset + item.entry.bytes;
    made_.items.push_back(std::move(item));
  }

  const engine::Plan& plan_;
  std::unordered_map<const model::Weight*, Use> uses_;
  Layout made_;
};

}  // namespace

Layout Layout::of(const engine::Plan& plan) {
  return Planner(plan).make();
}

}  // namespace colibri::convert
