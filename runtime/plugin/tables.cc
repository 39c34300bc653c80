// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/tables.h"

#include <cstring>
#include <span>
#include <string>

#include "colibri/cache_policy.h"
#include "colibri/device.h"
#include "colibri/format.h"
#include "colibri/kernels.h"
#include "colibri/sampler.h"
#include "colibri/tokenizer.h"

namespace colibri::plugin {
namespace {

// A pointer member of a table that must not be null.
struct Member {
  const char* name;
  size_t offset;
};
#define MEMBER(table, name)      \
  Member {                       \
#name, offsetof(table, name) \
  }

constexpr Member kPlugin[] = {MEMBER(colibri_plugin, id), MEMBER(colibri_plugin, version),
                              MEMBER(colibri_plugin, get_interface)};
constexpr Member kTokenizer[] = {
    MEMBER(colibri_tokenizer_1, accepts),     MEMBER(colibri_tokenizer_1, create),
    MEMBER(colibri_tokenizer_1, destroy),     MEMBER(colibri_tokenizer_1, vocabulary),
    MEMBER(colibri_tokenizer_1, encode),      MEMBER(colibri_tokenizer_1, token_bytes),
    MEMBER(colibri_tokenizer_1, token_id),    MEMBER(colibri_tokenizer_1, is_special),
    MEMBER(colibri_tokenizer_1, special),     MEMBER(colibri_tokenizer_1, decode_state_bytes),
    MEMBER(colibri_tokenizer_1, decode_next), MEMBER(colibri_tokenizer_1, decode_finish)};
constexpr Member kFormat[] = {
    MEMBER(colibri_format_1, accepts),      MEMBER(colibri_format_1, open),
    MEMBER(colibri_format_1, close),        MEMBER(colibri_format_1, vocabulary),
    MEMBER(colibri_format_1, tensor_count), MEMBER(colibri_format_1, tensor),
    MEMBER(colibri_format_1, metadata),     MEMBER(colibri_format_1, metadata_count),
    MEMBER(colibri_format_1, metadata_key), MEMBER(colibri_format_1, resource)};
constexpr Member kCachePolicy[] = {
    MEMBER(colibri_cache_policy_1, state_bytes), MEMBER(colibri_cache_policy_1, create),
    MEMBER(colibri_cache_policy_1, on_access),   MEMBER(colibri_cache_policy_1, on_insert),
    MEMBER(colibri_cache_policy_1, victims),     MEMBER(colibri_cache_policy_1, on_evict),
    MEMBER(colibri_cache_policy_1, resize)};
constexpr Member kSampler[] = {MEMBER(colibri_sampler_1, state_bytes),
                               MEMBER(colibri_sampler_1, create), MEMBER(colibri_sampler_1, apply)};
constexpr Member kKernels[] = {
    MEMBER(colibri_kernels_0, supports),      MEMBER(colibri_kernels_0, pack_layout),
    MEMBER(colibri_kernels_0, pack),          MEMBER(colibri_kernels_0, op_create),
    MEMBER(colibri_kernels_0, op_tasks),      MEMBER(colibri_kernels_0, op_run),
    MEMBER(colibri_kernels_0, attribute_size)};
constexpr Member kDevice[] = {MEMBER(colibri_device_0, probe),
                              MEMBER(colibri_device_0, info),
                              MEMBER(colibri_device_0, free_memory),
                              MEMBER(colibri_device_0, allocate),
                              MEMBER(colibri_device_0, allocate_host),
                              MEMBER(colibri_device_0, release),
                              MEMBER(colibri_device_0, release_host),
                              MEMBER(colibri_device_0, queue_create),
                              MEMBER(colibri_device_0, queue_destroy),
                              MEMBER(colibri_device_0, event_create),
                              MEMBER(colibri_device_0, event_destroy),
                              MEMBER(colibri_device_0, copy_in),
                              MEMBER(colibri_device_0, copy_out),
                              MEMBER(colibri_device_0, copy),
                              MEMBER(colibri_device_0, event_record),
                              MEMBER(colibri_device_0, queue_wait),
                              MEMBER(colibri_device_0, event_wait),
                              MEMBER(colibri_device_0, event_done),
                              MEMBER(colibri_device_0, run)};
#undef MEMBER

// Every table starts with its struct_size; `least` bytes are what version 1.0 has.
Status check_size(const char* type, const void* table, size_t least) {
  uint32_t size = 0;
  std::memcpy(&size, table, sizeof(size));
  if (size >= least) return {};
  return corrupt_data(std::string(type) + ".struct_size is " + std::to_string(size) +
                      ", less than " + std::to_string(least));
}

Status check(const char* type, const void* table, size_t least, std::span<const Member> members) {
  COLIBRI_TRY(check_size(type, table, least));
  for (const Member& member : members) {
    const void* value = nullptr;
    std::memcpy(&value, static_cast<const char*>(table) + member.offset, sizeof(value));
    if (value == nullptr) return corrupt_data(std::string(type) + "." + member.name + " is null");
  }
  return {};
}

// Another draft has other members, so this comes first.
Status check_draft(const char* header, uint32_t draft, uint32_t hosts) {
  if (draft == hosts) return {};
  return unsupported("built from draft " + std::to_string(draft) + " of " + header +
                     ", this host from draft " + std::to_string(hosts) + "; rebuild the plugin");
}

Status check_device(const void* table) {
  const auto* device = static_cast<const colibri_device_0*>(table);
  constexpr size_t kHead = offsetof(colibri_device_0, draft) + sizeof(device->draft);
  COLIBRI_TRY(check_size("colibri_device_0", table, kHead));
  COLIBRI_TRY(check_draft("device.h", device->draft, COLIBRI_DEVICE_DRAFT));
  return check("colibri_device_0", table, sizeof(colibri_device_0), kDevice);
}

Status check_kernels(const void* table, const Manifest& manifest) {
  const auto* kernels = static_cast<const colibri_kernels_0*>(table);
  constexpr size_t kHead = offsetof(colibri_kernels_0, numerics) + sizeof(kernels->numerics);
  COLIBRI_TRY(check_size("colibri_kernels_0", table, kHead));
  COLIBRI_TRY(check_draft("kernels.h", kernels->draft, COLIBRI_KERNELS_DRAFT));
  if (kernels->numerics != manifest.numerics) {
    return corrupt_data("the manifest promises numerics " +
                        std::string(numerics_name(manifest.numerics)) + ", the table is " +
                        numerics_name(kernels->numerics));
  }
  return check("colibri_kernels_0", table, sizeof(colibri_kernels_0), kKernels);
}

}  // namespace

Status check_plugin_table(const colibri_plugin& table, const Manifest& manifest) {
  constexpr size_t kLeast = offsetof(colibri_plugin, get_interface) + sizeof(table.get_interface);
  COLIBRI_TRY(check("colibri_plugin", &table, kLeast, kPlugin));
  if (manifest.id != table.id) {
    return corrupt_data("the manifest says id " + manifest.id + ", the code says " + table.id);
  }
  if (manifest.version != table.version) {
    return corrupt_data("the manifest says version " + manifest.version + ", the code says " +
                        table.version);
  }
  if (manifest.abi_minor != table.abi_minor) {
    return corrupt_data("the manifest says ABI 1." + std::to_string(manifest.abi_minor) +
                        ", the code says 1." + std::to_string(table.abi_minor));
  }
  return {};
}

Status check_interface_table(std::string_view id, const void* table, const Manifest& manifest) {
  if (table == nullptr) {
    return corrupt_data("the manifest offers " + std::string(id) + ", get_interface does not");
  }
  if (id == "colibri.kernels/0") return check_kernels(table, manifest);
  if (id == "colibri.device/0") return check_device(table);
  if (id == "colibri.tokenizer/1") {
    return check("colibri_tokenizer_1", table, sizeof(colibri_tokenizer_1), kTokenizer);
  }
  if (id == "colibri.format/1") {
    return check("colibri_format_1", table, sizeof(colibri_format_1), kFormat);
  }
  if (id == "colibri.cache_policy/1") {
    return check("colibri_cache_policy_1", table, sizeof(colibri_cache_policy_1), kCachePolicy);
  }
  if (id == "colibri.sampler/1") {
    return check("colibri_sampler_1", table, sizeof(colibri_sampler_1), kSampler);
  }
  return {};
}

}  // namespace colibri::plugin
