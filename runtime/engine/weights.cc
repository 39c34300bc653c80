// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/weights.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/engine/rows.h"
#include "runtime/model/codecs.h"
#include "runtime/model/rows.h"

namespace colibri::engine {
namespace {

// Large enough for long reads, small enough that every thread can hold one.
constexpr uint64_t kPieceBytes = 1u << 20;

struct Piece {
  const Placed* placed = nullptr;
  std::byte* to = nullptr;     // the start of the packed weight
  int64_t begin = 0, end = 0;  // of its rows
};

int64_t rows_per_piece(const model::Weight& weight, const Packing& packing) {
  const uint64_t row = std::max<uint64_t>(model::row_bytes(weight), 1);
  const auto group = static_cast<int64_t>(std::max(packing.layout.rows, 1u));
  return std::max<int64_t>(static_cast<int64_t>(kPieceBytes / row) / group * group, group);
}

// Whether the file holds a weight as it stands in memory (a .colibri file does), so that it is read
// straight to its place.
bool is_in_place(const model::Weight& weight, int64_t first_row, const Packing& packing) {
  const model::TensorEntry& tensor = *weight.tensor;
  return tensor.checksum != 0 && first_row == 0 && packing.layout.id == tensor.layout &&
         packing.layout.codec == tensor.codec && packing.bytes == tensor.bytes;
}

// Rows [begin, end) of such a weight.
Status load_in_place(const model::ModelSource& source, const model::Weight& weight,
                     const Packing& packing, int64_t begin, int64_t end, std::byte* to) {
  const auto group = static_cast<int64_t>(packing.layout.rows);
  const auto groups = [&](int64_t rows) {
    return static_cast<uint64_t>((rows + group - 1) / group);
  };
  const uint64_t bytes = weight.tensor->bytes / groups(weight.rows);
  const uint64_t first = static_cast<uint64_t>(begin / group) * bytes;
  return source.read(*weight.tensor, first, to + first, groups(end) * bytes - first);
}

Status check_sum(const model::ModelSource& source, const model::TensorEntry& tensor,
                 const std::byte* bytes) {
  if (checksum(bytes, tensor.bytes) == tensor.checksum) return {};
  return corrupt_data(source.place_of(tensor) +
                      ": its checksum differs: the file is damaged, copy it again or convert the "
                      "source anew");
}

// The checksum of a weight that was loaded to `bytes`, or else of its tensor in the file.
Status check_loaded(const model::ModelSource& source, const model::Weight& weight,
                    const Placed& placed, const std::byte* bytes) {
  const model::TensorEntry& tensor = *weight.tensor;
  if (tensor.checksum == 0) return {};
  if (is_in_place(weight, placed.first_row, placed.packing)) {
    return check_sum(source, tensor, bytes);
  }
  if (placed.first_row != 0) return {};  // another part of the weight has been checked
  COLIBRI_ASSIGN(const Memory whole, Memory::allocate(tensor.bytes, "checking a tensor"));
  COLIBRI_TRY(source.read(tensor, 0, whole.data(), tensor.bytes));
  return check_sum(source, tensor, whole.data());
}

// Rows [begin, end) behind first_row of a weight, to the same rows of the packed matrix `to`.
Status load_rows(const model::ModelSource& source, const model::Weight& weight, int64_t first_row,
                 const Packing& packing, int64_t begin, int64_t end, std::byte* to,
                 std::byte* piece) {
  if (is_in_place(weight, first_row, packing)) {
    return load_in_place(source, weight, packing, begin, end, to);
  }
  if (weight.tensor->layout != COLIBRI_LAYOUT_ROWS) {
    return unsupported(source.place_of(*weight.tensor) + ": its operator's plugin wants layout " +
                       std::to_string(packing.layout.id) + ", and the file has layout " +
                       std::to_string(weight.tensor->layout) + "; run the source of the file");
  }
  const uint64_t row_bytes = model::row_bytes(weight);
  const uint64_t bytes = static_cast<uint64_t>(end - begin) * row_bytes;
  COLIBRI_TRY(model::read_rows(source, weight, first_row + begin, first_row + end, piece,
                               piece + align_up(bytes)));
  COLIBRI_TRY(model::check_finite(weight.codec(), piece, bytes, weight.tensor->name,
                                  (first_row + begin) * weight.cols)
                  .at(source.files().path()));
  colibri_tensor from =
      matrix(weight.codec(), COLIBRI_LAYOUT_ROWS, end - begin, weight.cols, piece);
  from.stride[0] = static_cast<int64_t>(row_bytes);
  const colibri_status code = packing.packer->pack(&packing.layout, &from, to, begin);
  if (code == COLIBRI_OK) return {};
  return {code, weight.name() + ": packing it as " + model::codec_name(packing.layout.codec) +
                    " failed with status " + std::to_string(code)};
}

// Adds the pieces of a weight that is packed to `to`.
void add_pieces(const Placed& placed, std::byte* to, std::vector<Piece>& pieces) {
  const int64_t rows = placed.rows();
  const int64_t step = rows_per_piece(*placed.weight, placed.packing);
  for (int64_t begin = 0; begin < rows; begin += step) {
    pieces.push_back({&placed, to, begin, std::min(begin + step, rows)});
  }
}

// On the pool's threads, each with per_worker bytes of staging.
Status load_pieces(const model::ModelSource& source, const std::vector<Piece>& pieces,
                   ThreadPool& pool, const Memory& staging, uint64_t per_worker) {
  Status failure;
  std::mutex mutex;
  const auto count = static_cast<int64_t>(pieces.size());
  (void)pool.run(count, pool.threads(), [&](unsigned worker, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Piece& piece = pieces[static_cast<size_t>(i)];
      const Placed& placed = *piece.placed;
      Status status =
          load_rows(source, *placed.weight, placed.first_row, placed.packing, piece.begin,
                    piece.end, piece.to, staging.data() + worker * per_worker);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex);
      if (failure.ok()) failure = std::move(status);
      return failure.code();
    }
    return colibri_status{COLIBRI_OK};
  });
  return failure;
}

// Calls part(weight, placed) for every weight of an expert, until one fails.
template <typename Part>
Status for_each_part(const model::FfnSpec& weights, const Ffn& placed, const Part& part) {
  const std::pair<const model::Weight*, const Placed*> parts[] = {
      {&weights.gate, placed.gate},       {&weights.up, placed.up},
      {&weights.down, placed.down},       {&weights.gate_bias, placed.gate_bias},
      {&weights.up_bias, placed.up_bias}, {&weights.down_bias, placed.down_bias}};
  for (const auto& [weight, where] : parts) {
    if (where == nullptr) continue;
    COLIBRI_TRY(part(*weight, *where));
  }
  return {};
}

}  // namespace

uint64_t staging_bytes(const model::ModelSpec& spec, const Layers& layers) {
  uint64_t most = 0;
  const auto count = [&](const model::Weight& weight, int64_t weight_rows, const Packing& packing) {
    const int64_t rows = std::min(rows_per_piece(weight, packing), weight_rows);
    const uint64_t piece = static_cast<uint64_t>(rows) * model::row_bytes(weight);
    most = std::max(most, align_up(piece) + align_up(model::rows_scratch_bytes(weight, rows)));
  };
  for (const Placed& placed : layers.dense) {
    count(*placed.weight, placed.rows(), placed.packing);
  }
  for (size_t i = 0; i < layers.layers.size(); ++i) {
    if (!layers.layers[i].routed) continue;
    // Experts share how they are packed, but not how they are stored.
    for (const model::FfnSpec& expert : spec.layers[i].experts) {
      (void)for_each_part(expert, layers.layers[i].routed->expert,
                          [&](const model::Weight& weight, const Placed& placed) {
                            count(weight, weight.rows, placed.packing);
                            return Status();
                          });
    }
  }
  return most;
}

Status load_weight(const model::ModelSource& source, const model::Weight& weight,
                   const Placed& placed, std::byte* to, std::byte* staging) {
  const int64_t step = rows_per_piece(weight, placed.packing);
  const int64_t rows = placed.rows();
  for (int64_t begin = 0; begin < rows; begin += step) {
    COLIBRI_TRY(load_rows(source, weight, placed.first_row, placed.packing, begin,
                          std::min(begin + step, rows), to, staging));
  }
  return check_loaded(source, weight, placed, to);
}

Status load_expert(const model::ModelSource& source, const model::FfnSpec& weights,
                   const Ffn& placed, std::byte* bundle, std::byte* staging) {
  return for_each_part(weights, placed,
                       [&](const model::Weight& weight, const Placed& part) -> Status {
                         return load_weight(source, weight, part, bundle + part.offset, staging);
                       });
}

std::optional<BundleExtent> bundle_extent(const model::FfnSpec& weights, const Ffn& placed) {
  const model::TensorEntry& first = *weights.gate.tensor;
  if (first.offset < placed.gate->offset) return std::nullopt;
  BundleExtent extent = {first.file, first.offset - placed.gate->offset, 0};
  const Status same = for_each_part(
      weights, placed, [&](const model::Weight& weight, const Placed& part) -> Status {
        const model::TensorEntry& tensor = *weight.tensor;
        if (!is_in_place(weight, part.first_row, part.packing) || tensor.file != extent.file ||
            tensor.offset != extent.offset + part.offset) {
          return unsupported("elsewhere");
        }
        extent.bytes = std::max(extent.bytes, part.offset + tensor.bytes);
        return {};
      });
  if (!same.ok()) return std::nullopt;
  return extent;
}

uint32_t bundle_parts(const Ffn& placed) {
  return placed.gate_bias == nullptr ? 3 : 6;
}

Status check_bundle_part(const model::ModelSource& source, const model::FfnSpec& weights,
                         const Ffn& placed, uint32_t part, const std::byte* bundle) {
  uint32_t number = 0;
  return for_each_part(weights, placed,
                       [&](const model::Weight& weight, const Placed& where) -> Status {
                         if (number++ != part) return {};
                         return check_sum(source, *weight.tensor, bundle + where.offset);
                       });
}

uint64_t largest_weight(const Layers& layers) {
  uint64_t most = 0;
  for (const Placed& placed : layers.dense) most = std::max(most, placed.packing.bytes);
  return most;
}

Result<Block> load_dense(const model::ModelSource& source, const model::ModelSpec& spec,
                         Layers& layers, ThreadPool& pool, plugin::DeviceQueue* queue) {
  COLIBRI_ASSIGN(Block memory, Block::allocate(queue == nullptr ? nullptr : &queue->device(),
                                               layers.dense_bytes, "the dense weights"));
  const uint64_t per_worker = staging_bytes(spec, layers);
  COLIBRI_ASSIGN(const Memory staging,
                 Memory::allocate(pool.threads() * per_worker, "reading weights"));
  for (Placed& placed : layers.dense) {
    placed.tensor.buffer = memory.data();
    placed.tensor.offset = placed.offset;
  }
  std::vector<Piece> pieces;
  if (queue == nullptr) {
    for (const Placed& placed : layers.dense) {
      add_pieces(placed, address(placed.tensor), pieces);
    }
    COLIBRI_TRY(load_pieces(source, pieces, pool, staging, per_worker));
    for (const Placed& placed : layers.dense) {
      COLIBRI_TRY(check_loaded(source, *placed.weight, placed, address(placed.tensor)));
    }
    return memory;
  }
  // The device's way goes through the host, a weight at a time.
  COLIBRI_ASSIGN(const Memory packed, Memory::allocate(largest_weight(layers), "a packed weight"));
  for (const Placed& placed : layers.dense) {
    pieces.clear();
    add_pieces(placed, packed.data(), pieces);
    COLIBRI_TRY(load_pieces(source, pieces, pool, staging, per_worker));
    COLIBRI_TRY(check_loaded(source, *placed.weight, placed, packed.data()));
    COLIBRI_TRY(queue->copy_in(memory.data(), placed.offset, packed.data(), placed.packing.bytes));
  }
  COLIBRI_TRY(queue->wait());
  return memory;
}

}  // namespace colibri::engine
