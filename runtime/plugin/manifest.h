// SPDX-License-Identifier: Apache-2.0
// The manifest: what a plugin says about itself, read without loading it. JSON of at most 4 KiB in
// an ELF note of the owner COLIBRI; docs/abi.md describes every key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/plugin/options.h"

namespace colibri::plugin {

inline constexpr size_t kManifestBytes = 4096;

struct Manifest {
  std::string id;       // [a-z][a-z0-9_]*, at most 64 characters
  std::string version;  // "1.2.3"
  uint32_t abi_major = 0;
  uint32_t abi_minor = 0;
  std::vector<std::string> interfaces;  // e.g. "colibri.sampler/1"
  std::string architecture;  // of `uname -m`; empty = linked into the program, so always right
  std::vector<std::string> cpu_features;     // all of them needed
  std::vector<uint32_t> cuda_architectures;  // that it has code for, 90 = sm_90; empty = no CUDA
  int32_t rank = 0;                          // of two that fit, the higher one is asked first
  uint32_t numerics = 0;                     // COLIBRI_NUMERICS_*; 0 = offers no kernels
  std::vector<OptionSpec> options;

  bool offers(std::string_view interface_id) const;
  bool abi_fits() const;  // this host can load it
};

// Of a manifest whose ABI does not fit only id, version, abi and interfaces are read. Errors:
// COLIBRI_CORRUPT_DATA with the key and what is wrong with it. Unknown keys are errors. [any]
Result<Manifest> parse_manifest(std::string_view json);

const char* numerics_name(
    uint32_t numerics);  // "identical", "deterministic", "approximate"; "" for 0

}  // namespace colibri::plugin
