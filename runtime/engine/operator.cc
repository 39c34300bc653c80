// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/operator.h"

#include <algorithm>
#include <utility>

namespace colibri::engine {

colibri_op_desc OperatorDesc::get() const {
  colibri_op_desc desc = {};
  desc.struct_size = sizeof(desc);
  desc.op = op_;
  desc.attributes = attributes_.data();
  desc.weights = weights_.data();
  desc.weight_count = static_cast<uint32_t>(weights_.size());
  desc.max_rows = max_rows_;
  return desc;
}

bool OperatorDesc::operator==(const OperatorDesc& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
  };
  return op_ == other.op_ && max_rows_ == other.max_rows_ && same(attributes_, other.attributes_) &&
         same(weights_, other.weights_);
}

Result<const Operator*> OperatorSet::add(const std::string& use, OperatorDesc desc,
                                         std::vector<Packing>* packing, Part part) {
  const plugin::KernelChooser& chooser = part == Part::kExperts ? experts_ : dense_;
  for (size_t i = 0; i < operators_.size(); ++i) {
    if (operators_[i]->chooser_ != &chooser || !(operators_[i]->asked_ == desc)) continue;
    auto& uses = operators_[i]->uses_;
    if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
    if (packing != nullptr) *packing = packings_[i];
    return operators_[i].get();
  }
  auto choice = chooser.choose(desc.get());
  if (!choice.ok()) return choice.status().at(use);
  std::unique_ptr<Operator> made(new Operator(std::move(desc), std::move(*choice)));
  made->chooser_ = &chooser;
  std::vector<Packing> packed;
  const std::string place = use + ": plugin " + made->choice_.plugin->id();
  if (Status status = choose_layouts(*made, &packed); !status.ok()) return status.at(place);

  const colibri_op_desc final_desc = made->desc_.get();
  colibri_op_info info = {};
  info.struct_size = sizeof(info);
  colibri_error error = empty_error();
  colibri_status code =
      made->table()->op_create(&final_desc, made->choice_.host, nullptr, &info, &error);
  COLIBRI_TRY(from_c(code, error, "op_create").at(place));
  COLIBRI_ASSIGN(made->state_,
                 Memory::allocate(align_up(std::max<uint64_t>(info.state_bytes, 1)), place));
  code =
      made->table()->op_create(&final_desc, made->choice_.host, made->state_.data(), &info, &error);
  COLIBRI_TRY(from_c(code, error, "op_create").at(place));
  made->scratch_bytes_ = align_up(info.scratch_bytes);
  made->description_ = plugin::describe(final_desc);
  made->uses_.push_back(use);
  if (packing != nullptr) *packing = packed;
  operators_.push_back(std::move(made));
  packings_.push_back(std::move(packed));
  return operators_.back().get();
}

Status OperatorSet::choose_layouts(Operator& made, std::vector<Packing>* packing) const {
  auto& weights = made.desc_.weights();
  for (uint32_t i = 0; i < weights.size(); ++i) {
    Packing packed;
    packed.packer = made.table();
    packed.layout.struct_size = sizeof(packed.layout);
    if (weights[i].layout == COLIBRI_LAYOUT_ROWS) {
      const colibri_op_desc asked = made.asked_.get();
      colibri_error error = empty_error();
      const colibri_status code =
          made.table()->pack_layout(&asked, i, &packed.layout, &packed.bytes, &error);
      COLIBRI_TRY(from_c(code, error, "pack_layout"));
      weights[i].layout = packed.layout.id;
    }
    packing->push_back(packed);
  }
  return {};
}

uint64_t OperatorSet::scratch_bytes(bool on_device) const {
  uint64_t most = 0;
  for (const auto& made : operators_) {
    if (made->on_device() == on_device) most = std::max(most, made->scratch_bytes_);
  }
  return most;
}

}  // namespace colibri::engine
