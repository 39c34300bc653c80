// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <vector>

#include "runtime/api/objects.h"
#include "runtime/config/pipeline.h"
#include "runtime/plugin/static_plugins.h"

using colibri::Status;
namespace api = colibri::api;

colibri_status colibri_load_model(const char* path, const colibri_model_params* params,
                                  colibri_model** model, colibri_error* error) {
  return colibri::guard(error, [&]() -> Status {
    if (path == nullptr || model == nullptr) {
      return colibri::invalid_argument("colibri_load_model: path and model must not be NULL");
    }
    *model = nullptr;
    std::vector<colibri::config::Override> overrides;
    if (api::has(params, &colibri_model_params::set_count)) {
      for (uint32_t i = 0; i < params->set_count; ++i) {
        COLIBRI_ASSIGN(auto parsed, colibri::config::parse_override(params->set[i]));
        overrides.push_back(std::move(parsed));
      }
    }
    COLIBRI_ASSIGN(auto pipeline, colibri::config::open_pipeline(path, overrides));
    COLIBRI_ASSIGN(auto plan, colibri::engine::Plan::make(std::move(pipeline)));
    auto made = std::make_unique<colibri_model>();
    COLIBRI_ASSIGN(made->model, colibri::engine::Model::load(std::move(plan)));
    *model = made.release();
    return {};
  });
}

void colibri_free_model(colibri_model* model) {
  delete model;
}

colibri_status colibri_set_expert_budget(colibri_model* model, uint64_t bytes,
                                         colibri_error* error) {
  return colibri::guard(error, [&]() -> Status { return model->model->set_expert_budget(bytes); });
}

uint32_t colibri_vocabulary(const colibri_model* model) {
  return static_cast<uint32_t>(model->model->spec().vocabulary);
}

uint32_t colibri_max_tokens(const colibri_model* model) {
  return static_cast<uint32_t>(model->model->plan().max_tokens);
}

colibri_status colibri_register_plugin(const colibri_plugin* plugin, const char* manifest_json,
                                       colibri_error* error) {
  return colibri::guard(
      error, [&]() -> Status { return colibri::plugin::register_static(plugin, manifest_json); });
}

const char* colibri_version(void) {
  return COLIBRI_VERSION_TEXT;
}
