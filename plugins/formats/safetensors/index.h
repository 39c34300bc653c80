// SPDX-License-Identifier: Apache-2.0
// model.safetensors.index.json: which tensor is in which shard.
#pragma once

#include <string>
#include <unordered_map>

#include "runtime/base/status.h"

namespace colibri::safetensors {

using ShardOfTensor = std::unordered_map<std::string, std::string>;  // tensor name -> file name

// Reads the weight_map. What else an index says is left alone: "metadata" repeats the total size,
// which Hugging Face's own loader does not read and which is wrong in checkpoints that were edited.
Result<ShardOfTensor> read_index(const std::string& name, std::string json);

}  // namespace colibri::safetensors
