// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/kernels.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "runtime/bench/breakdown.h"
#include "runtime/bench/product.h"
#include "runtime/engine/limits.h"

namespace colibri::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kBeyondCaches = 256u << 20;  // bytes of weights that decoding goes through
constexpr double kLeastSeconds = 0.02;          // of a measurement: several calls if one is short

// How an operator is called in a phase.
struct Shape {
  int64_t groups = 1, rows = 1;
};

bool of_experts(const engine::Operator& op) {
  return op.uses().front().starts_with("experts.");
}

Work work_of(const colibri_op_desc& desc, const Shape& shape, uint64_t group_bytes) {
  Work work;
  double operations = 0;
  for (uint32_t i = 0; i < desc.weight_count; ++i) {
    operations += 2.0 * static_cast<double>(desc.weights[i].shape[0] * desc.weights[i].shape[1]);
  }
  operations *= static_cast<double>(shape.groups * shape.rows);
  colibri_grouped_matmul_attributes attributes;
  std::memcpy(&attributes, desc.attributes, sizeof(attributes));
  (attributes.input_dtype == COLIBRI_CODEC_Q8_32 ? work.int8 : work.f32) = operations;
  work.bytes = static_cast<double>(shape.groups) * static_cast<double>(group_bytes);
  return work;
}

Result<double> seconds_of_call(Product& product, engine::PhaseRunner& runner, const Shape& shape) {
  const auto start = Clock::now();
  double seconds = 0;
  int calls = 0;
  do {
    COLIBRI_TRY(product.run(runner, shape.groups, shape.rows));
    ++calls;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  } while (seconds < kLeastSeconds);
  return seconds / calls;
}

class Comparison {
 public:
  Comparison(const engine::Plan& plan, uint32_t repeats, const volatile int* cancel,
             KernelReport& report)
      : plan_(plan), repeats_(repeats), report_(report) {
    limits_.cancel = cancel;
  }

  Status measure(const engine::Operator& op) {
    const bool experts = of_experts(op);
    const Shape decode = {experts ? plan_.spec.top_k : 1, 1};
    Shape prefill = {1, plan_.max_rows};
    if (experts) {
      prefill = {plan_.spec.experts,
                 std::max<int64_t>(plan_.max_rows * plan_.spec.top_k / plan_.spec.experts, 1)};
    }
    std::vector<KernelTime> names;
    std::vector<std::unique_ptr<Product>> products;  // parallel; null = refused
    COLIBRI_TRY(create(op, prefill.groups, names, products));
    for (const Shape& shape : {decode, prefill}) {
      KernelCase made;
      made.uses = uses_text(op);
      made.description = op.description();
      made.groups = shape.groups;
      made.rows = shape.rows;
      made.times = names;
      COLIBRI_TRY(time(shape, products, made));
      for (const auto& product : products) {
        if (product == nullptr) continue;
        made.work = work_of(op.asked().get(), shape, product->group_bytes());
        break;
      }
      report_.cases.push_back(std::move(made));
    }
    return {};
  }

 private:
  Status create(const engine::Operator& op, int64_t least_groups, std::vector<KernelTime>& names,
                std::vector<std::unique_ptr<Product>>& products) const {
    for (const auto& plugin : plan_.registry->offers("colibri.kernels/0")) {
      KernelTime name;
      name.plugin = plugin->id();
      // Their number follows from their size, which the first one tells.
      auto product = Product::create(*plan_.registry, plugin->id(), op.asked(), 1);
      if (product.ok()) {
        const auto beyond =
            static_cast<int64_t>(kBeyondCaches / std::max<uint64_t>((*product)->group_bytes(), 1));
        product = Product::create(*plan_.registry, plugin->id(), op.asked(),
                                  std::max(least_groups, beyond + 1));
      }
      if (!product.ok() && product.status().code() != COLIBRI_UNSUPPORTED) return product.status();
      if (!product.ok()) name.refusal = product.status().text();
      products.push_back(product.ok() ? std::move(*product) : nullptr);
      names.push_back(std::move(name));
    }
    return {};
  }

  Status time(const Shape& shape, std::vector<std::unique_ptr<Product>>& products,
              KernelCase& made) const {
    uint64_t scratch = 0;
    for (const auto& product : products) {
      if (product != nullptr) scratch = std::max(scratch, product->scratch_bytes());
    }
    COLIBRI_ASSIGN(engine::PhaseRunner runner, engine::PhaseRunner::create(plan_.threads, scratch));
    for (uint32_t round = 0; round < repeats_; ++round) {
      for (size_t i = 0; i < products.size(); ++i) {
        COLIBRI_TRY(limits_.check());
        if (products[i] == nullptr) continue;
        COLIBRI_ASSIGN(const double seconds, seconds_of_call(*products[i], runner, shape));
        made.times[i].seconds.push_back(seconds);
      }
    }
    return {};
  }

  const engine::Plan& plan_;
  const uint32_t repeats_;
  engine::RunLimits limits_;
  KernelReport& report_;
};

}  // namespace

Result<KernelReport> compare_kernels(const engine::Plan& plan, uint32_t repeats,
                                     const volatile int* cancel) {
  KernelReport report;
  COLIBRI_ASSIGN(const auto pool, ThreadPool::create(plan.threads));
  Comparison comparison(plan, repeats, cancel, report);
  for (const auto& op : plan.operators->all()) {
    if (op->asked().get().op != COLIBRI_OP_GROUPED_MATMUL) continue;
    COLIBRI_TRY(comparison.measure(*op));
    COLIBRI_TRY(report.limits.measure(*pool, kBeyondCaches, plan.profile));
  }
  return report;
}

}  // namespace colibri::bench
