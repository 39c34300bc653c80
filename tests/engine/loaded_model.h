// SPDX-License-Identifier: Apache-2.0
// A model loaded with overrides, for tests. A folder may hold the architecture document that the
// model needs, architecture.yaml.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine/model.h"

namespace colibri::test {

// overrides: "key.path=value", as --set; machine_root: see engine::Plan::make().
Result<std::unique_ptr<engine::Plan>> make_plan(const std::filesystem::path& path,
                                                const std::vector<std::string>& overrides,
                                                const std::string& machine_root = "/");
Result<std::unique_ptr<engine::Model>> load_model(const std::filesystem::path& path,
                                                  const std::vector<std::string>& overrides);

// "devices.memory=F" that leaves room for this part of the experts beside all else, where the
// overrides put all but the experts on a device.
Result<std::string> memory_for_some(const std::filesystem::path& path,
                                    const std::vector<std::string>& overrides, double part);

// Whether a weight as it is stored has products with activations that are rounded to 8 bits.
bool rounds_activations(const model::ModelSpec& spec);

int32_t argmax(const float* values, size_t n);  // the lowest index of the highest value

}  // namespace colibri::test
