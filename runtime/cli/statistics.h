// SPDX-License-Identifier: Apache-2.0
// The closing line of a run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/engine/generator.h"
#include "runtime/engine/model.h"
#include "runtime/experts/store.h"

namespace colibri::cli {

struct Statistics {
  engine::GenerateResult result;
  struct Experts {
    experts::Counters counters;
    experts::Times times;
    uint64_t bytes = 0;  // read
  };
  std::optional<Experts> experts;  // of the store; nullopt: there is none
  struct OnDevice {
    std::string name;
    experts::Counters counters;
  };
  std::optional<OnDevice> on_device;  // of the tier there; nullopt: there is none
  uint64_t peak_memory = 0;           // bytes resident
  // Tokens per second that decoding would reach if it did nothing but read the weights of each
  // token, at this machine's measured speed; 0 = nothing was decoded.
  double decode_limit = 0;

  // Of a run that has just ended: measures the memory's speed, which takes about a tenth of a
  // second.
  static Statistics of(const engine::GenerateResult& result, const engine::Model& model);

  // "24 tokens (end of text) | prompt 312 tokens, 1530.2 tokens/s | ..."
  std::string line() const;
  nlohmann::ordered_json json() const;
};

}  // namespace colibri::cli
