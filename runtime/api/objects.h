// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of colibri.h.
#pragma once

#include <memory>
#include <mutex>

#include "colibri/colibri.h"
#include "runtime/base/guard.h"
#include "runtime/base/status.h"
#include "runtime/engine/context.h"
#include "runtime/engine/generator.h"
#include "runtime/engine/limits.h"
#include "runtime/engine/model.h"
#include "runtime/engine/sampling.h"

struct colibri_model {
  std::unique_ptr<colibri::engine::Model> model;
};

struct colibri_context {
  const colibri_model* owner = nullptr;
  std::unique_ptr<colibri::engine::Context> context;
  // Made by the first colibri_generate().
  std::unique_ptr<colibri::engine::SamplerChain> sampler;
  std::unique_ptr<colibri::engine::Generator> generator;
};

namespace colibri::api {

// Whether a caller's struct reaches as far as a field: older callers have shorter structs.
template <typename Struct, typename Field>
bool has(const Struct* given, Field Struct::*field) {
  if (given == nullptr) return false;
  const auto* base = reinterpret_cast<const char*>(given);
  const auto* end = reinterpret_cast<const char*>(&(given->*field)) + sizeof(Field);
  return static_cast<size_t>(end - base) <= given->struct_size;
}

Result<engine::RunLimits> limits_of(const colibri_run_params* params);

}  // namespace colibri::api
