// SPDX-License-Identifier: Apache-2.0
// Negotiation before any code of a plugin runs: candidates, their manifests, and the first reason
// that removes one.
#pragma once

#include <string>
#include <vector>

#include "runtime/machine/profile.h"
#include "runtime/plugin/registry.h"

namespace colibri::plugin {

struct Candidate {
  Decision decision;  // reason empty = still in
  Manifest manifest;
  const colibri_plugin* table = nullptr;  // of a plugin that is linked in
  bool is_duplicate = false;              // another candidate has the same id
  bool is_foreign = false;  // the reason is what this machine lacks: elsewhere it may be usable
};

// The manifest of a file. Errors: COLIBRI_CORRUPT_DATA or COLIBRI_NOT_FOUND, without the file's
// name. [any]
Result<Manifest> read_manifest(const std::string& file);

// Why a plugin of this manifest is of no use: ABI, machine type, CPU features, in this order; empty
// = nothing. [any]
std::string why_not_here(const Manifest& manifest, const machine::Profile& profile);

// All candidates, linked-in ones first, then the files in search order. Of two with one id the
// first stays. Removed are those without a readable manifest, those that do not suit the machine,
// the numerics class or the request. [setup]
std::vector<Candidate> collect_candidates(const Request& request, const machine::Profile& profile);

}  // namespace colibri::plugin
