// SPDX-License-Identifier: Apache-2.0
// The work behind plan_layers(): one class over layers.cc, plan_attention.cc and plan_ffn.cc.
#pragma once

#include <cstring>
#include <string>

#include "runtime/engine/layers.h"
#include "runtime/engine/rows.h"

namespace colibri::engine {

// Attribute structs begin with their size; the bytes between fields are zero so that descriptions
// can be compared.
template <typename Attributes>
Attributes attributes() {
  Attributes made;
  std::memset(&made, 0, sizeof(made));
  made.struct_size = sizeof(made);
  return made;
}

class LayerPlanner {
 public:
  LayerPlanner(const model::ModelSpec& spec, const config::Quantize& quantize, uint32_t kv,
               int64_t max_rows, std::span<const experts::ExpertPlace> places,
               OperatorSet& operators)
      : spec_(spec),
        quantize_(quantize),
        kv_(kv),
        max_rows_(max_rows),
        places_(places),
        operators_(operators) {}

  Result<Layers> plan();

 private:
  Status plan_ends();
  Status plan_attention(const model::LayerSpec& spec, Layer& layer);
  Status plan_gqa(const model::LayerSpec& spec, Layer& layer);
  Status plan_mla(const model::LayerSpec& spec, Layer& layer);
  Status plan_ffn(const model::LayerSpec& spec, Layer& layer);
  Status plan_routed(const model::LayerSpec& spec, RoutedFfn& routed);
  // The same experts on the device, from the same bundles: refuses other layouts than the host's.
  Status plan_tier(const model::FfnSpec& spec, RoutedFfn& routed);
  // One operator serves all experts of a layer, so they share their codecs.
  Status check_same_codecs(const std::vector<model::FfnSpec>& experts) const;

  using Made = Result<const Operator*>;
  Result<Norm> norm(const char* use, const model::Weight& weight, int64_t rows, float clamp = 0);
  Result<Linear> linear(const char* use, const model::Weight& weight, const model::Weight& bias,
                        uint32_t activation = COLIBRI_ACTIVATION_NONE, float clamp = 0);
  Result<HeadLinear> head_linear(const char* use, const model::Weight& weight);
  // bundle: bytes of the expert's bundle so far, to which the weights are added; null = the dense
  // memory.
  Result<Ffn> ffn(const std::string& use, const model::FfnSpec& spec, int64_t rows, Part part,
                  uint64_t* bundle);
  Made rope(const char* use, int64_t heads, int64_t head_dim, int64_t first);
  Made combine(const char* use, int64_t slots);
  Made quantize(const std::string& use, int64_t rows);

  // The weight as a planned operator is asked about it: its codec in memory, rows of it.
  Result<colibri_tensor> asked(const model::Weight& weight, int64_t rows) const;
  Result<colibri_tensor> asked(const model::Weight& weight) const {
    return asked(weight, weight.rows);
  }
  const Placed* place(const model::Weight& weight, const Packing& packing,
                      const colibri_tensor& tensor, uint64_t* bundle = nullptr,
                      int64_t first_row = 0);
  // f32 numbers that an operator takes as an argument: a bias, sinks. Null if absent.
  const Placed* place_vector(const model::Weight& weight, uint64_t* bundle = nullptr);

  const model::ModelSpec& spec_;
  const config::Quantize& quantize_;
  const uint32_t kv_;
  const int64_t max_rows_;
  const std::span<const experts::ExpertPlace> places_;  // by layer with experts
  OperatorSet& operators_;
  Packing vector_packing_;  // of a norm's weight; every model has one
  Layers made_;
};

}  // namespace colibri::engine
