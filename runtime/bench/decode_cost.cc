// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/decode_cost.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "runtime/bench/attention_trial.h"
#include "runtime/bench/product.h"
#include "runtime/bench/row_trial.h"
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

// The operators of a token: how often each is called, and with what.
class Calls {
 public:
  explicit Calls(const engine::Plan& plan) : max_rows_(plan.max_rows), top_k_(plan.spec.top_k) {
    for (const engine::Layer& layer : plan.layers.layers) add(layer);
    add(plan.layers.final_norm.op);
    add(plan.layers.quantize_head_input);
    add(plan.layers.head.op);
  }

  struct Key {
    const engine::Operator* what;
    bool of_experts;
    bool operator<(const Key& other) const {
      return std::tie(what, of_experts) < std::tie(other.what, other.of_experts);
    }
  };
  const std::map<Key, int>& all() const { return calls_; }

  Shape shape(const Key& call) const {
    if (call.of_experts) return {top_k_, 1};
    const colibri_op_desc asked = call.what->asked().get();
    // Where each head has a row of its own, or a matrix.
    const int64_t heads = std::max<int64_t>(asked.max_rows / max_rows_, 1);
    return asked.op == COLIBRI_OP_GROUPED_MATMUL ? Shape{heads, 1} : Shape{1, heads};
  }

 private:
  void add(const engine::Operator* op, bool of_experts = false) {
    if (op != nullptr) ++calls_[{op, of_experts}];
  }
  void add(std::initializer_list<const engine::Operator*> operators) {
    for (const engine::Operator* op : operators) add(op);
  }
  void add(const engine::GqaAttention& gqa) {
    add({gqa.q.op, gqa.k.op, gqa.v.op, gqa.q_norm.op, gqa.k_norm.op, gqa.rope_q, gqa.rope_k,
         gqa.kv_write, gqa.attention});
  }
  void add(const engine::MlaAttention& mla) {
    add({mla.q_down.op, mla.q_down_norm.op, mla.quantize_q_latent, mla.q_up.op, mla.kv_down.op,
         mla.kv_down_norm.op, mla.rope_q, mla.rope_k, mla.kv_write, mla.k_absorb.quantize_input,
         mla.k_absorb.op, mla.attention, mla.v_up.quantize_input, mla.v_up.op});
  }
  void add(const engine::Layer& layer) {
    add({layer.attention_norm.op, layer.quantize_attention_input});
    if (layer.gqa) add(*layer.gqa);
    if (layer.mla) add(*layer.mla);
    add({layer.quantize_attention_output, layer.o.op, layer.add, layer.ffn_norm.op,
         layer.quantize_ffn_input, layer.always.gate_up, layer.always.down_op});
    if (!layer.routed) return;
    const engine::RoutedFfn& routed = *layer.routed;
    add({routed.router.op, routed.choose, routed.combine, routed.shared_gate.op});
    add(routed.expert.gate_up, true);
    add(routed.expert.down_op, true);
  }

  const int64_t max_rows_, top_k_;
  std::map<Key, int> calls_;
};

// A token reads all its weights before it reads one of them again.
uint64_t cycle_bytes(const engine::Plan& plan) {
  return std::min(plan.bytes_per_token(), kCycleBytes);
}

Result<std::unique_ptr<Trial>> trial_of(const engine::Plan& plan, const engine::Operator& op,
                                        const Shape& shape) {
  const std::string& plugin = op.choice().plugin->id();
  const engine::OperatorDesc& asked = op.asked();
  switch (asked.get().op) {
    case COLIBRI_OP_GROUPED_MATMUL:
      return Product::create_cycle(plan, plugin, asked, shape.groups, cycle_bytes(plan));
    case COLIBRI_OP_KV_WRITE:
    case COLIBRI_OP_ATTENTION:
    case COLIBRI_OP_MLA_ATTENTION:
      return AttentionTrial::create(plan, plugin, asked, shape.rows,
                                    {std::min(kContext, plan.max_tokens), cycle_bytes(plan)});
    default:
      return RowTrial::create(plan, plugin, asked, shape.rows);
  }
}

Result<double> seconds_of_call(const engine::Plan& plan, const engine::Operator& op,
                               const Shape& shape) {
  COLIBRI_ASSIGN(const auto trial, trial_of(plan, op, shape));
  COLIBRI_ASSIGN(engine::PhaseRunner runner,
                 engine::PhaseRunner::create(plan.decode_threads, trial->scratch_bytes()));
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    int calls = 0;
    do {
      COLIBRI_TRY(trial->run(runner, shape));
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

// What the threads do to an expert that was just read as it lies in memory.
Result<double> seconds_of_check(const engine::Plan& plan, uint32_t layer, uint64_t bundle_bytes) {
  const auto source = plan.expert_files->source();
  COLIBRI_ASSIGN(const auto pool, ThreadPool::create(plan.decode_threads));
  COLIBRI_ASSIGN(const Memory bundle,
                 Memory::allocate(align_up(bundle_bytes, kDirectAlignment), "an expert"));
  COLIBRI_TRY(source->load(layer, 0, bundle.data(), nullptr));  // a damaged one is refused
  const auto from = source->extent(layer, 0);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    // What was just read is in no cache, and the threads have gone to sleep meanwhile.
    COLIBRI_TRY(from->file->read(from->offset, bundle.data(), from->bytes));
    const auto start = Clock::now();
    (void)pool->run(source->parts(), plan.decode_threads,
                    [&](unsigned, int64_t begin, int64_t end) {
                      for (int64_t part = begin; part < end; ++part) {
                        (void)source->check(layer, 0, static_cast<uint32_t>(part), bundle.data());
                      }
                      return colibri_status{COLIBRI_OK};
                    });
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
  cost.first_load_seconds = disk.lone_seconds(routed.bundle_bytes);
  cost.load_seconds = static_cast<double>(routed.bundle_bytes) / disk.bytes_per_second;
  if (plan.expert_files->reading().ring) {
    COLIBRI_ASSIGN(cost.check_seconds, seconds_of_check(plan, routed.index, routed.bundle_bytes));
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
    COLIBRI_ASSIGN(const double seconds, seconds_of_call(plan, *call.what, calls.shape(call)));
    (call.of_experts ? cost.expert_seconds : cost.dense_seconds) += seconds * times;
  }
  COLIBRI_TRY(measure_loading(plan, cost));
  return cost;
}

}  // namespace colibri::bench
