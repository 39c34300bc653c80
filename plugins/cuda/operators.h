// SPDX-License-Identifier: Apache-2.0
// The operators of the plugin: what each puts into a stream. Descriptions, packing and the checks of
// arguments are those of the CPU plugins; arguments are as colibri/device.h says.
#pragma once

#include "colibri/kernels.h"
#include "plugins/cpu_common/operators.h"
#include "plugins/cuda/launch.cuh"

namespace colibri::cuda {

using cpu::OperatorState;

colibri_status embed(const OperatorState& state, const void* arguments, cudaStream_t stream,
                     void* scratch);
colibri_status norm(const OperatorState& state, const void* arguments, cudaStream_t stream,
                    void* scratch);
colibri_status quantize_rows(const OperatorState& state, const void* arguments, cudaStream_t stream,
                             void* scratch);
colibri_status grouped_matmul(const OperatorState& state, const void* arguments,
                              cudaStream_t stream, void* scratch);
colibri_status rope(const OperatorState& state, const void* arguments, cudaStream_t stream,
                    void* scratch);
colibri_status kv_write(const OperatorState& state, const void* arguments, cudaStream_t stream,
                        void* scratch);
colibri_status attention(const OperatorState& state, const void* arguments, cudaStream_t stream,
                         void* scratch);
int64_t attention_scratch_bytes(const OperatorState& state);
colibri_status mla_attention(const OperatorState& state, const void* arguments, cudaStream_t stream,
                             void* scratch);
int64_t mla_attention_scratch_bytes(const OperatorState& state);
colibri_status router(const OperatorState& state, const void* arguments, cudaStream_t stream,
                      void* scratch);
colibri_status combine(const OperatorState& state, const void* arguments, cudaStream_t stream,
                       void* scratch);

// Checks the arguments and puts the operator into the stream. Errors: COLIBRI_INVALID_ARGUMENT.
colibri_status run(const void* state, const void* arguments, cudaStream_t stream, void* scratch);

// colibri.kernels/0 of the plugin.
const colibri_kernels_0& kernel_table();

constexpr int64_t kMostKeyDim = 1024;
constexpr int64_t kMostValueDim = 512;
constexpr int64_t kMostExperts = 1024;

}  // namespace colibri::cuda
