// SPDX-License-Identifier: Apache-2.0
// What the kernels of grouped_matmul share: the call, its tiles, and what becomes of sums. A tile is
// some product rows of one group.
#pragma once

#include "plugins/cuda/operators.h"
#include "plugins/cuda/weight.cuh"

namespace colibri::cuda {

struct Tile {
  const uint8_t* weight[2];  // or gate, up
  const float* bias[2];      // or nullptr
  int64_t begin, rows;       // product rows
};
struct Tiles {
  static constexpr int64_t kMost = 64;  // as many as a kernel's parameters hold
  Tile tile[kMost];
};

struct ProductCall {
  const uint8_t* input;
  uint8_t* output;
  int64_t input_stride, output_stride;  // bytes
  int64_t input_rows, output_rows;
  int64_t rows, cols, panel_bytes;  // of a weight
  const int32_t *row_index, *output_index;
  uint32_t epilogue, activation, output_dtype;
  float clamp, alpha, up_offset;
};

// The products of `count` tiles, each with one weight or two. Tiles of few rows have at most
// kFewRows, those of many at most kManyRows; a row's bytes are the same in either.
constexpr int kFewRows = 8;
constexpr int kManyRows = 64;
colibri_status multiply_few(uint32_t codec, uint32_t weights, const ProductCall& call,
                            const Tiles& tiles, int64_t count, cudaStream_t stream);
colibri_status multiply_many(uint32_t codec, uint32_t weights, const ProductCall& call,
                             const Tiles& tiles, int64_t count, cudaStream_t stream);

// Sums of a block: those of gate or alone, and of up.
template <int kWeights, int kRows, int kColumns>
using Sums = float[kWeights][kRows][kColumns];

// The input of a product row; of an index that is out of range any row: write_outputs() makes its
// outputs NaN.
__device__ inline uint8_t* input_of(const ProductCall& call, int64_t product_row) {
  const int64_t row = indexed(call.row_index, product_row);
  const bool is_there = row >= 0 && row < call.input_rows;
  return const_cast<uint8_t*>(call.input) + (is_there ? row : 0) * call.input_stride;
}

// One output of its sums, each with its bias.
__device__ inline float finished(const ProductCall& call, float gate, float up) {
  if (call.epilogue == COLIBRI_EPILOGUE_NONE) {
    const float x = clamped(gate, call.clamp);
    return call.activation == COLIBRI_ACTIVATION_NONE ? x : 1.0f / (1.0f + exp_f32(-x));
  }
  if (call.clamp != 0 && gate > call.clamp) gate = call.clamp;
  up = clamped(up, call.clamp);
  if (call.activation == COLIBRI_ACTIVATION_SILU) {
    const float alpha = call.alpha == 0 ? 1.0f : call.alpha;
    gate = gate / (1.0f + exp_f32(-alpha * gate));
  }
  if (call.up_offset != 0) up = up + call.up_offset;
  return gate * up;
}

// A warp writes 32 outputs of a row at a time.
template <int kWeights, int kRows, int kColumns>
__device__ void write_outputs(const ProductCall& call, const Tile& tile,
                              const Sums<kWeights, kRows, kColumns>& sums) {
  static_assert(kColumns % kWarp == 0, "a block writes whole blocks of q8_32");
  constexpr unsigned kPieces = kColumns / kWarp;
  for (unsigned i = threadIdx.x / kWarp; i < tile.rows * kPieces; i += kWarps) {
    const unsigned t = i / kPieces;
    const unsigned place = i % kPieces * kWarp + threadIdx.x % kWarp;
    const int64_t column = int64_t{blockIdx.x} * kColumns + place;
    const int64_t from = indexed(call.row_index, tile.begin + t);
    const int64_t to = indexed(call.output_index, tile.begin + t);
    if (to < 0 || to >= call.output_rows) continue;
    float number = 0;
    if (column < call.rows) {
      float sum[2] = {};
      for (int w = 0; w < kWeights; ++w) {
        sum[w] = sums[w][t][place];
        if (tile.bias[w] != nullptr) sum[w] += tile.bias[w][column];
      }
      number =
          from >= 0 && from < call.input_rows ? finished(call, sum[0], sum[1]) : not_a_number();
    }
    uint8_t* out = call.output + to * call.output_stride;
    if (call.output_dtype == COLIBRI_CODEC_F32) {
      if (column < call.rows) reinterpret_cast<float*>(out)[column] = number;
    } else if (column / 32 < call.rows / 32) {  // rows are whole blocks
      prepare_block(number, prepared_row(out, call.rows), column / 32);
    }
  }
}

}  // namespace colibri::cuda
