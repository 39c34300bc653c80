// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/candidates.h"

#include <algorithm>
#include <map>

#include "colibri/kernels.h"
#include "runtime/base/file.h"
#include "runtime/plugin/elf_note.h"
#include "runtime/plugin/search.h"
#include "runtime/plugin/static_plugins.h"

namespace colibri::plugin {
namespace {

std::string abi_text(uint32_t major, uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

Candidate from_manifest(Manifest manifest, std::string file) {
  Candidate candidate;
  candidate.decision.id = manifest.id;
  candidate.decision.version = manifest.version;
  candidate.decision.file = std::move(file);
  candidate.decision.interfaces = manifest.interfaces;
  candidate.decision.rank = manifest.rank;
  candidate.decision.numerics = manifest.numerics;
  candidate.manifest = std::move(manifest);
  return candidate;
}

Candidate refused(std::string file, std::string reason) {
  Candidate candidate;
  candidate.decision.file = std::move(file);
  candidate.decision.reason = std::move(reason);
  return candidate;
}

Candidate from_file(const FoundFile& found) {
  if (!found.refusal.empty()) return refused(found.path, found.refusal);
  Result<Manifest> manifest = read_manifest(found.path);
  if (!manifest.ok()) return refused(found.path, manifest.status().text());
  return from_manifest(std::move(*manifest), found.path);
}

std::string why_not_wanted(const Manifest& manifest, const Request& request) {
  if (manifest.numerics == COLIBRI_NUMERICS_APPROXIMATE &&
      request.numerics == config::Numerics::kReproducible) {
    return "its results are approximate, and the pipeline's numerics are reproducible";
  }
  if (std::find(request.deny.begin(), request.deny.end(), manifest.id) != request.deny.end()) {
    return "denied by plugins.deny";
  }
  return "";
}

}  // namespace

Result<Manifest> read_manifest(const std::string& path) {
  COLIBRI_ASSIGN(const File file, File::open(path));
  const auto read = [&](uint64_t offset, void* to, uint64_t n) { return file.read(offset, to, n); };
  COLIBRI_ASSIGN(const ElfNote note, read_elf_note(file.size(), read));
  Result<Manifest> manifest = parse_manifest(note.text);
  if (!manifest.ok()) return manifest.status().at("manifest");
  if (manifest->abi_fits() && manifest->architecture != note.architecture) {
    return corrupt_data("the manifest is of a plugin for '" + manifest->architecture +
                        "', the file is for " + note.architecture);
  }
  return manifest;
}

std::string why_not_here(const Manifest& manifest, const machine::Profile& profile) {
  if (!manifest.abi_fits()) {
    return "built for plugin ABI " + abi_text(manifest.abi_major, manifest.abi_minor) +
           ", this host has " + abi_text(COLIBRI_ABI_MAJOR, COLIBRI_ABI_MINOR);
  }
  if (!manifest.architecture.empty() && manifest.architecture != profile.architecture) {
    return "for " + manifest.architecture + ", this machine is " + profile.architecture;
  }
  std::string missing;
  for (const std::string& feature : manifest.cpu_features) {
    if (!profile.cpu_features.contains(feature)) missing += (missing.empty() ? "" : ", ") + feature;
  }
  if (missing.empty()) return "";
  return "needs " + missing + ", which this machine lacks" +
         (profile.isa_limit.empty() ? "" : " under COLIBRI_MAX_ISA=" + profile.isa_limit);
}

std::vector<Candidate> collect_candidates(const Request& request, const machine::Profile& profile) {
  std::vector<Candidate> candidates;
  for (StaticPlugin& plugin : static_plugins()) {
    candidates.push_back(from_manifest(std::move(plugin.manifest), kLinkedIn));
    candidates.back().table = plugin.table;
  }
  std::vector<std::filesystem::path> folders = request.search;
  if (request.search_installed) {
    const std::vector<std::filesystem::path> installed = installed_folders();
    folders.insert(folders.end(), installed.begin(), installed.end());
  }
  for (const FoundFile& found : find_plugin_files(folders)) {
    candidates.push_back(from_file(found));
  }

  std::map<std::string, std::string> first_with_id;
  for (Candidate& candidate : candidates) {
    Decision& decision = candidate.decision;
    if (!decision.reason.empty()) continue;
    const auto [first, added] = first_with_id.try_emplace(decision.id, decision.file);
    candidate.is_duplicate = !added;
    if (!added) decision.reason = "has the same id as " + first->second + ", which was found first";
    if (decision.reason.empty()) {
      decision.reason = why_not_here(candidate.manifest, profile);
      candidate.is_foreign = !decision.reason.empty() && candidate.manifest.abi_fits();
    }
    if (decision.reason.empty()) decision.reason = why_not_wanted(candidate.manifest, request);
  }
  return candidates;
}

}  // namespace colibri::plugin
