// SPDX-License-Identifier: Apache-2.0
// An operator of a plan, computed by a plugin of choice on data of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/bench/work.h"
#include "runtime/engine/operator.h"
#include "runtime/engine/phase.h"
#include "runtime/engine/plan.h"
#include "runtime/plugin/kernel_chooser.h"
#include "runtime/plugin/registry.h"

namespace colibri::bench {

// How an operator is called.
struct Shape {
  int64_t groups = 1;  // matrices, or pairs of them for a gated product
  int64_t rows = 1;    // of each
};

// Bytes that a trial goes through before it comes back to the first: more than any cache holds.
constexpr uint64_t kBeyondCaches = 256u << 20;

// Used by one thread.
class Trial {
 public:
  virtual ~Trial() = default;
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // One call.
  virtual Status run(engine::PhaseRunner& runner, const Shape& shape) = 0;
  virtual Work work(const Shape& shape) const = 0;  // of a call
  uint64_t scratch_bytes() const { return operators_.scratch_bytes(false); }

 protected:
  explicit Trial(plugin::KernelChooser chooser)
      : chooser_(std::move(chooser)), operators_(chooser_, chooser_) {}
  static Result<plugin::KernelChooser> pinned(const engine::Plan& plan,
                                              const std::string& plugin_id,
                                              const engine::OperatorDesc& of);
  Status create_operator(const engine::OperatorDesc& of, std::vector<engine::Packing>* packings);

  // A weight of the operator, of zeros, packed to `to`.
  Result<colibri_tensor> pack_zeros(const engine::Packing& packing, const colibri_tensor& asked,
                                    std::byte* to) const;

  const engine::Operator& op() const { return *operator_; }

 private:
  const plugin::KernelChooser chooser_;
  engine::OperatorSet operators_;
  const engine::Operator* operator_ = nullptr;
};

// A trial of any operator of the plan, for calls of up to as many groups and rows. The rows are the
// last ones of a context that is full. Weights, keys and values are zero, which no kernel treats
// apart. COLIBRI_UNSUPPORTED if the plugin does not compute the operator.
Result<std::unique_ptr<Trial>> create_trial(const engine::Plan& plan, const std::string& plugin_id,
                                            const engine::OperatorDesc& of, const Shape& most);

}  // namespace colibri::bench
