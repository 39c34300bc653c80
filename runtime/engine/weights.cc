// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/weights.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/engine/rows.h"
#include "runtime/model/codecs.h"

namespace colibri::engine {
namespace {

// Large enough for long reads, small enough that every thread can hold one.
constexpr uint64_t kPieceBytes = 1u << 20;

struct Piece {
  Placed* placed = nullptr;
  int64_t begin = 0, end = 0;  // rows
};

int64_t rows_per_piece(const model::Weight& weight, const Packing& packing) {
  const auto row = std::max<uint64_t>(weight.bytes() / static_cast<uint64_t>(weight.rows), 1);
  const auto group = static_cast<int64_t>(std::max(packing.layout.rows, 1u));
  return std::max<int64_t>(static_cast<int64_t>(kPieceBytes / row) / group * group, group);
}

Status load_rows(const model::ModelSource& source, const model::Weight& weight,
                 const Packing& packing, int64_t begin, int64_t end, std::byte* to,
                 std::byte* piece) {
  const uint64_t row_bytes = weight.bytes() / static_cast<uint64_t>(weight.rows);
  const uint64_t first = static_cast<uint64_t>(begin) * row_bytes;
  const uint64_t bytes = static_cast<uint64_t>(end - begin) * row_bytes;
  COLIBRI_TRY(source.read(*weight.tensor, first, piece, bytes));
  COLIBRI_TRY(
      model::check_finite(weight.codec(), piece, bytes, weight.tensor->name, begin * weight.cols)
          .at(source.files().path()));
  colibri_tensor from =
      matrix(weight.codec(), COLIBRI_LAYOUT_ROWS, end - begin, weight.cols, piece);
  from.stride[0] = static_cast<int64_t>(row_bytes);
  const colibri_status code = packing.packer->pack(&packing.layout, &from, to, begin);
  if (code == COLIBRI_OK) return {};
  return {code, weight.name() + ": packing it as " + model::codec_name(packing.layout.codec) +
                    " failed with status " + std::to_string(code)};
}

}  // namespace

uint64_t staging_bytes(const model::ModelSpec& spec, Layers& layers) {
  uint64_t most = 0;
  const auto count = [&](const model::Weight& weight, const Packing& packing) {
    const int64_t rows = std::min(rows_per_piece(weight, packing), weight.rows);
    const uint64_t row_bytes = weight.bytes() / static_cast<uint64_t>(weight.rows);
    most = std::max(most, align_up(static_cast<uint64_t>(rows) * row_bytes));
  };
  for (const Placed* placed : layers.dense()) count(*placed->weight, placed->packing);
  for (size_t i = 0; i < layers.layers.size(); ++i) {
    const Layer& layer = layers.layers[i];
    // Experts share how they are packed, but not how they are stored.
    for (const model::FfnSpec& expert : spec.layers[i].experts) {
      count(expert.gate, layer.gate_weight.packing);
      count(expert.up, layer.up_weight.packing);
      count(expert.down, layer.down_weight.packing);
    }
  }
  return most;
}

Status load_weight(const model::ModelSource& source, const model::Weight& weight,
                   const Packing& packing, std::byte* to, std::byte* staging) {
  const int64_t step = rows_per_piece(weight, packing);
  for (int64_t begin = 0; begin < weight.rows; begin += step) {
    COLIBRI_TRY(load_rows(source, weight, packing, begin, std::min(begin + step, weight.rows), to,
                          staging));
  }
  return {};
}

Result<Memory> load_dense(const model::ModelSource& source, const model::ModelSpec& spec,
                          Layers& layers, ThreadPool& pool) {
  COLIBRI_ASSIGN(Memory memory, Memory::allocate(layers.dense_bytes, "the dense weights"));
  const uint64_t per_worker = staging_bytes(spec, layers);
  COLIBRI_ASSIGN(const Memory staging,
                 Memory::allocate(pool.threads() * per_worker, "reading weights"));
  std::vector<Piece> pieces;
  for (Placed* placed : layers.dense()) {
    const int64_t rows = placed->weight->rows;
    const int64_t step = rows_per_piece(*placed->weight, placed->packing);
    for (int64_t begin = 0; begin < rows; begin += step) {
      pieces.push_back({placed, begin, std::min(begin + step, rows)});
    }
    placed->tensor.buffer = memory.data() + placed->offset;
  }
  if (layers.embedding_weight.offset == layers.head_weight.offset) {
    layers.embedding_weight.tensor.buffer = layers.head_weight.tensor.buffer;
  }
  Status failure;
  std::mutex mutex;
  const auto count = static_cast<int64_t>(pieces.size());
  (void)pool.run(count, pool.threads(), [&](unsigned worker, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Piece& piece = pieces[static_cast<size_t>(i)];
      Status status = load_rows(source, *piece.placed->weight, piece.placed->packing, piece.begin,
                                piece.end, static_cast<std::byte*>(piece.placed->tensor.buffer),
                                staging.data() + worker * per_worker);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex);
      if (failure.ok()) failure = std::move(status);
      return failure.code();
    }
    return colibri_status{COLIBRI_OK};
  });
  if (!failure.ok()) return failure;
  return memory;
}

}  // namespace colibri::engine
