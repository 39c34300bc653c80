// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/loaded_model.h"

#include <algorithm>
#include <cstdio>

#include "runtime/base/codec_facts.h"
#include "runtime/config/pipeline.h"

namespace colibri::test {

Result<std::unique_ptr<engine::Plan>> make_plan(const std::filesystem::path& path,
                                                const std::vector<std::string>& overrides,
                                                const std::string& machine_root) {
  std::vector<std::string> texts = overrides;
  const std::filesystem::path document = path / "architecture.yaml";
  if (std::filesystem::exists(document)) {
    texts.push_back("model.architecture=" + std::filesystem::absolute(document).string());
  }
  std::vector<config::Override> parsed;
  for (const std::string& text : texts) {
    COLIBRI_ASSIGN(config::Override one, config::parse_override(text));
    parsed.push_back(std::move(one));
  }
  COLIBRI_ASSIGN(config::Pipeline pipeline, config::open_pipeline(path, parsed));
  return engine::Plan::make(std::move(pipeline), 1, machine_root);
}

Result<std::unique_ptr<engine::Model>> load_model(const std::filesystem::path& path,
                                                  const std::vector<std::string>& overrides) {
  COLIBRI_ASSIGN(auto plan, make_plan(path, overrides));
  return engine::Model::load(std::move(plan));
}

Result<std::string> memory_for_some(const std::filesystem::path& path,
                                    const std::vector<std::string>& overrides, double part) {
  COLIBRI_ASSIGN(const auto plan, make_plan(path, overrides));
  COLIBRI_ASSIGN(const uint64_t free, plan->device->free_memory());
  const double room = static_cast<double>(plan->device_memory.total()) +
                      part * static_cast<double>(plan->memory.experts_all) + 64;
  char fraction[64];
  std::snprintf(fraction, sizeof(fraction), "devices.memory=%.15f",
                room / static_cast<double>(free));
  return std::string(fraction);
}

bool rounds_activations(const model::ModelSpec& spec) {
  const auto rounds = [](const model::Weight* weight) {
    return *weight && has_integer_product(weight->codec());
  };
  return std::any_of(spec.layers.begin(), spec.layers.end(), [&](const model::LayerSpec& layer) {
    auto weights = layer.weights();
    if (layer.routed()) weights.push_back(&layer.experts[0].gate);
    return std::any_of(weights.begin(), weights.end(), rounds);
  });
}

int32_t argmax(const float* values, size_t n) {
  return static_cast<int32_t>(std::max_element(values, values + n) - values);
}

}  // namespace colibri::test
