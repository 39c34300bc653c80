# SPDX-License-Identifier: Apache-2.0
# The kernels, and what calls them: compiled by nvcc for the plugin, and by the C++ compiler for tests/cuda_shim.
set(kernel_sources attention.cu combine.cu embed.cu kv_write.cu mla_attention.cu norm.cu operators.cu product.cu
                   product_few.cu product_many.cu rope.cu router.cu)
