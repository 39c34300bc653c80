// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/decode_cost.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "runtime/bench/product.h"
#include "runtime/bench/work.h"
#include "runtime/engine/weights.h"
#include "runtime/machine/disk_rate.h"

namespace colibri::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kCycleBytes = 64u << 20;  // of weights that calls go through in turn, at most
constexpr double kLeastSeconds = 0.005;      // of a round
constexpr int kRounds = 3;                   // the fastest one counts: other work only slows
constexpr int64_t kContext = 512;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The products of a token: how often each operator is called, with how many groups.
class Calls {
 public:
  explicit Calls(const engine::Plan& plan) {
    for (const engine::Layer& layer : plan.layers.layers) add(layer, plan.spec.top_k);
    add(plan.layers.head);
  }

  struct Key {
    const engine::Operator* what;
    int64_t groups;
    bool of_experts;
    bool operator<(const Key& other) const {
      return std::tie(what, groups, of_experts) <
             std::tie(other.what, other.groups, other.of_experts);
    }
  };
  const std::map<Key, int>& all() const { return calls_; }

 private:
  void add(const engine::Operator* op, int64_t groups = 1, bool of_experts = false) {
    if (op != nullptr) ++calls_[{op, groups, of_experts}];
  }
  void add(const engine::Linear& linear) { add(linear.op); }
  void add(const engine::HeadLinear& heads) {
    add(heads.op, static_cast<int64_t>(heads.weights.size()));
  }
  void add(const engine::Layer& layer, int64_t top_k) {
    if (layer.gqa) {
      for (const engine::Linear* each : {&layer.gqa->q, &layer.gqa->k, &layer.gqa->v}) add(*each);
    } else {
      for (const engine::Linear* each :
           {&layer.mla->q_down, &layer.mla->q_up, &layer.mla->kv_down}) {
        add(*each);
      }
      add(layer.mla->k_absorb);
      add(layer.mla->v_up);
    }
    add(layer.o);
    add(layer.always.gate_up);
    add(layer.always.down_op);
    if (!layer.routed) return;
    add(layer.routed->router);
    add(layer.routed->shared_gate);
    add(layer.routed->expert.gate_up, top_k, true);
    add(layer.routed->expert.down_op, top_k, true);
  }

  std::map<Key, int> calls_;
};

// Seconds of a call, one row for each group.
Result<double> seconds_of_call(const engine::Plan& plan, const Calls::Key& call) {
  const std::string& plugin = call.what->choice().plugin->id();
  const engine::OperatorDesc& asked = call.what->asked();
  COLIBRI_ASSIGN(auto product, Product::create(plan, plugin, asked, call.groups));
  // A token reads all its weights before it reads one of them again.
  const uint64_t cycle = std::min(plan.bytes_per_token(), kCycleBytes);
  const auto groups = static_cast<int64_t>(cycle / std::max<uint64_t>(product->group_bytes(), 1));
  if (groups > call.groups) {
    COLIBRI_ASSIGN(product, Product::create(plan, plugin, asked, groups));
  }
  COLIBRI_ASSIGN(engine::PhaseRunner runner,
                 engine::PhaseRunner::create(plan.threads, product->scratch_bytes()));
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    int calls = 0;
    do {
      COLIBRI_TRY(product->run(runner, {call.groups, 1}));
      ++calls;
    } while (seconds_since(start) < kLeastSeconds);
    const double seconds = seconds_since(start) / calls;
    best = round == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

// What a processor does to bring an expert from a file that the system has in memory.
Result<double> seconds_of_unpacking(const engine::Plan& plan, const model::FfnSpec& weights,
                                    const engine::RoutedFfn& routed) {
  COLIBRI_ASSIGN(const Memory bundle, Memory::allocate(routed.bundle_bytes, "an expert"));
  COLIBRI_ASSIGN(const Memory staging,
                 Memory::allocate(engine::staging_bytes(plan.spec, plan.layers), "loading it"));
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {  // the first one brings it to the system's memory
    const auto start = Clock::now();
    COLIBRI_TRY(
        engine::load_expert(*plan.source, weights, routed.expert, bundle.data(), staging.data()));
    const double seconds = seconds_since(start);
    best = round == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

// What a processor does to an expert that is read as it lies in memory.
Result<double> seconds_of_check(const experts::ExpertSource& source, uint32_t layer,
                                uint64_t bundle_bytes) {
  COLIBRI_ASSIGN(const Memory bundle,
                 Memory::allocate(align_up(bundle_bytes, kDirectAlignment), "an expert"));
  double best = 0;
  COLIBRI_TRY(source.load(layer, 0, bundle.data(), nullptr));
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    for (uint32_t part = 0; part < source.parts(); ++part) {
      COLIBRI_TRY(source.check(layer, 0, part, bundle.data()));
    }
    const double seconds = seconds_since(start);
    best = round == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

Status measure_loading(const engine::Plan& plan, MeasuredCost& cost) {
  const auto& layers = plan.layers.layers;
  const auto found =
      std::find_if(layers.begin(), layers.end(), [](const auto& each) { return each.routed; });
  if (found == layers.end()) return {};
  const engine::RoutedFfn& routed = *found->routed;
  const model::ModelFiles& files = plan.source->files();
  uint32_t largest = 0;
  for (uint32_t i = 1; i < files.count(); ++i) {
    if (files.size(i) > files.size(largest)) largest = i;
  }
  COLIBRI_ASSIGN(const machine::DiskRate disk,
                 machine::measure_disk_rate(files.path(largest), routed.bundle_bytes));
  cost.layers = plan.layers.routed_layers;
  cost.top_k = static_cast<uint32_t>(plan.spec.top_k);
  cost.disk_bytes_per_second = disk.bytes_per_second;
  cost.first_load_seconds = disk.lone_read_seconds;
  cost.load_seconds = static_cast<double>(routed.bundle_bytes) / disk.bytes_per_second;
  if (plan.expert_files->reading().ring) {
    const auto source = plan.expert_files->source();
    COLIBRI_ASSIGN(const double check,
                   seconds_of_check(*source, routed.index, routed.bundle_bytes));
    const uint32_t turns = (source->parts() + plan.threads - 1) / plan.threads;
    cost.check_seconds = check * turns / source->parts();
    return {};
  }
  const model::FfnSpec& weights =
      plan.spec.layers[static_cast<size_t>(found - layers.begin())].experts.front();
  COLIBRI_ASSIGN(const double unpacking, seconds_of_unpacking(plan, weights, routed));
  cost.first_load_seconds += unpacking;
  cost.load_seconds += unpacking / plan.threads;
  return {};
}

}  // namespace

Result<MeasuredCost> measure_decode_cost(const engine::Plan& plan) {
  MeasuredCost cost;
  const Calls calls(plan);
  for (const auto& [call, times] : calls.all()) {
    COLIBRI_ASSIGN(const double seconds, seconds_of_call(plan, call));
    (call.of_experts ? cost.expert_seconds : cost.dense_seconds) += seconds * times;
  }
  // Keys and values are read as fast as weights.
  const Work work = decode_work(plan, std::min(kContext, plan.max_tokens - 1), 1);
  const auto weights = static_cast<double>(plan.bytes_per_token());
  cost.dense_seconds +=
      (cost.dense_seconds + cost.expert_seconds) * (work.bytes - weights) / weights;
  COLIBRI_TRY(measure_loading(plan, cost));
  return cost;
}

}  // namespace colibri::bench
