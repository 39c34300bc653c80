// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of colibri.h, and the barrier at which C++ ends.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "colibri/colibri.h"
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

// Runs a function that returns a Status; nothing is thrown past it.
template <typename Body>
colibri_status guarded(colibri_error* error, Body body) {
  try {
    return to_c(body(), error);
  } catch (const std::bad_alloc&) {
    return to_c(out_of_memory("out of memory"), error);
  } catch (const std::exception& failure) {
    return to_c(internal_error(std::string("unexpected failure: ") + failure.what()), error);
  }
}

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
