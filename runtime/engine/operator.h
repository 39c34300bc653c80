// SPDX-License-Identifier: Apache-2.0
// Operators as planned: which plugin computes what, created once and shared by all layers that ask
// for the same.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "colibri/kernels.h"
#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/plugin/kernel_chooser.h"

namespace colibri::engine {

// A description of an operator that owns its attributes and weights.
class OperatorDesc {
 public:
  template <typename Attributes>
  OperatorDesc(uint32_t op, const Attributes& attributes, std::vector<colibri_tensor> weights,
               int64_t max_rows)
      : op_(op),
        attributes_((sizeof(attributes) + sizeof(uint64_t) - 1) / sizeof(uint64_t)),
        weights_(std::move(weights)),
        max_rows_(max_rows) {
    static_assert(alignof(Attributes) <= alignof(uint64_t));
    std::memcpy(attributes_.data(), &attributes, sizeof(attributes));
  }

  // Valid as long as this object is where it is.
  colibri_op_desc get() const;
  std::vector<colibri_tensor>& weights() { return weights_; }
  bool operator==(const OperatorDesc& other) const;

 private:
  uint32_t op_;
  std::vector<uint64_t> attributes_;
  std::vector<colibri_tensor> weights_;
  int64_t max_rows_;
};

// A created operator. Immutable: any number of threads may run it.
class Operator {
 public:
  const colibri_kernels_0* table() const { return choice_.table; }
  const void* state() const { return state_.data(); }
  uint64_t scratch_bytes() const { return scratch_bytes_; }  // per worker
  const plugin::KernelChoice& choice() const { return choice_; }
  // Whether it runs in the queue of a device.
  bool on_device() const { return on_device_; }
  const std::string& description() const { return description_; }
  const std::vector<std::string>& uses() const { return uses_; }
  // As it was asked for, before the layouts of its weights were chosen.
  const OperatorDesc& asked() const { return asked_; }

 private:
  friend class OperatorSet;
  Operator(OperatorDesc desc, plugin::KernelChoice choice)
      : asked_(desc),
        desc_(std::move(desc)),
        choice_(std::move(choice)),
        on_device_(choice_.plugin->manifest().offers(plugin::kDeviceInterface)) {}

  OperatorDesc asked_;
  OperatorDesc desc_;
  plugin::KernelChoice choice_;
  bool on_device_;
  const plugin::KernelChooser* chooser_ = nullptr;
  Memory state_;
  uint64_t scratch_bytes_ = 0;
  std::string description_;
  std::vector<std::string> uses_;  // "attention.q", in the order of asking
};

// How a weight lies in memory for the operator that reads it.
struct Packing {
  colibri_layout layout = {};
  uint64_t bytes = 0;
  const colibri_kernels_0* packer = nullptr;
};

// The parts of a model that may lie in different places.
enum class Part { kDense, kExperts };

class OperatorSet {
 public:
  // The choosers of the two parts may be one.
  OperatorSet(const plugin::KernelChooser& dense, const plugin::KernelChooser& experts)
      : dense_(dense), experts_(experts) {}

  // Chooses a plugin and creates the operator, or finds it if one with this description exists.
  // `use` says what for, in the plan and in errors. Weights whose layout is ROWS are packed as the
  // plugin wants: packing (may be null) gets one entry for each. [setup]
  Result<const Operator*> add(const std::string& use, OperatorDesc desc,
                              std::vector<Packing>* packing = nullptr, Part part = Part::kDense);

  const std::vector<std::unique_ptr<Operator>>& all() const { return operators_; }
  // Enough for each of them that runs on a device, or per worker for each that does not.
  uint64_t scratch_bytes(bool on_device) const;

 private:
  Status choose_layouts(Operator& made, std::vector<Packing>* packing) const;

  const plugin::KernelChooser& dense_;
  const plugin::KernelChooser& experts_;
  std::vector<std::unique_ptr<Operator>> operators_;
  std::vector<std::vector<Packing>> packings_;  // parallel to operators_
};

}  // namespace colibri::engine
