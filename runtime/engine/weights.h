// SPDX-License-Identifier: Apache-2.0
// From files to memory: weights read in pieces, checked, and packed as their operators want them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/engine/block.h"
#include "runtime/engine/layers.h"
#include "runtime/model/source.h"

namespace colibri::engine {

// Memory that reading any of the weights works in, per thread: a piece of a weight as stored.
uint64_t staging_bytes(const model::ModelSpec& spec, const Layers& layers);

// Reads a weight, or those of its rows that are placed, and packs it to `to`, on the calling thread;
// a weight that is stored packed is read as it is. Refuses NaN and infinite numbers by name. [worker]
Status load_weight(const model::ModelSource& source, const model::Weight& weight,
                   const Placed& placed, std::byte* to, std::byte* staging);

// Reads an expert and packs it into its bundle, on the calling thread. Refuses NaN and infinite
// weights by name. Allocates nothing, but for messages of failures. [worker]
Status load_expert(const model::ModelSource& source, const model::FfnSpec& weights,
                   const Ffn& placed, std::byte* bundle, std::byte* staging);

// Where a file holds an expert's bundle just as it stands in memory: one read brings it.
struct BundleExtent {
  uint32_t file = 0;  // index into ModelFiles
  uint64_t offset = 0, bytes = 0;
};
// nullopt if no file does.
std::optional<BundleExtent> bundle_extent(const model::FfnSpec& weights, const Ffn& placed);
// Such a bundle has as many parts as an expert has weights, each with its checksum.
uint32_t bundle_parts(const Ffn& placed);
// Compares a part of a bundle that was read with its checksum. [any]
Status check_bundle_part(const model::ModelSource& source, const model::FfnSpec& weights,
                         const Ffn& placed, uint32_t part, const std::byte* bundle);

// Bytes of the largest of the dense weights.
uint64_t largest_weight(const Layers& layers);

// Loads all dense weights on the pool's threads, and points their tensors into the memory. queue: of
// the device that they are for, which they reach one after another through memory of the host as
// large as the largest; null = the CPU.
Result<Block> load_dense(const model::ModelSource& source, const model::ModelSpec& spec,
                         Layers& layers, ThreadPool& pool, plugin::DeviceQueue* queue = nullptr);

}  // namespace colibri::engine
