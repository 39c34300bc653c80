/* SPDX-License-Identifier: Apache-2.0 */
/* acme_combine: a kernel plugin of one operator, in C. It adds the experts' rows to the residual, as docs/numerics.md says,
 * and leaves every other operator to other plugins. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "colibri/kernels.h"

static int32_t refuse(char why_not[128], const char* reason) {
  if (why_not != NULL) snprintf(why_not, 128, "%s", reason);
  return 0;
}

static colibri_status fail(colibri_error* error, colibri_status code, const char* text) {
  if (error != NULL && error->struct_size >= sizeof(*error)) {
    error->code = code;
    snprintf(error->text, sizeof(error->text), "%s", text);
  }
  return code;
}

static int32_t supports(const colibri_op_desc* desc, char why_not[128]) {
  if (desc == NULL || desc->struct_size < sizeof(*desc)) return refuse(why_not, "no description");
  if (desc->op != COLIBRI_OP_COMBINE) return refuse(why_not, "computes combine only");
  const colibri_combine_attributes* attributes = desc->attributes;
  if (attributes == NULL || attributes->struct_size < sizeof(*attributes))
    return refuse(why_not, "the attributes of combine are not there");
  if (attributes->slots == 0 || attributes->slots > INT32_MAX)
    return refuse(why_not, "combine needs 1 slot or more, and no more than 2^31 - 1");
  if (!isfinite(attributes->scale)) return refuse(why_not, "the scale is no number");
  if (desc->weight_count != 0) return refuse(why_not, "combine has no weights");
  if (desc->max_rows < 0) return refuse(why_not, "fewer rows than none");
  return 1;
}

/* There are no weights, so nothing is ever packed. */
static colibri_status pack_layout(const colibri_op_desc* desc, uint32_t index,
                                  colibri_layout* wanted, uint64_t* bytes, colibri_error* error) {
  (void)desc, (void)index, (void)wanted, (void)bytes;
  return fail(error, COLIBRI_INVALID_ARGUMENT, "combine has no weights");
}
static colibri_status pack(const colibri_layout* layout, const colibri_tensor* from, void* to,
                           int64_t row_begin) {
  (void)layout, (void)from, (void)to, (void)row_begin;
  return COLIBRI_UNSUPPORTED;
}

/* The state is the attributes. */
static colibri_status op_create(const colibri_op_desc* desc, const colibri_host* host, void* state,
                                colibri_op_info* info, colibri_error* error) {
  char why_not[128];
  (void)host;
  if (!supports(desc, why_not)) return fail(error, COLIBRI_UNSUPPORTED, why_not);
  if (info == NULL || info->struct_size < sizeof(*info))
    return fail(error, COLIBRI_INVALID_ARGUMENT, "no place for the sizes");
  info->state_bytes = sizeof(colibri_combine_attributes);
  info->scratch_bytes = 0;
  if (state != NULL) memcpy(state, desc->attributes, sizeof(colibri_combine_attributes));
  return COLIBRI_OK;
}

/* A task is a row. */
static int64_t op_tasks(const void* state, const void* arguments) {
  (void)state;
  return ((const colibri_combine_args*)arguments)->output.shape[0];
}

static float* row_of(const colibri_tensor* tensor, int64_t row) {
  return (float*)((char*)tensor->buffer + tensor->offset + row * tensor->stride[0]);
}

/* output = residual, then fma(weight * scale, row, output) slot by slot */
static colibri_status op_run(const void* state, const void* arguments, int64_t task_begin,
                             int64_t task_end, void* scratch) {
  const colibri_combine_attributes* attributes = state;
  const colibri_combine_args* call = arguments;
  const int64_t slots = attributes->slots;
  const int64_t cols = call->output.shape[1];
  (void)scratch;
  for (int64_t row = task_begin; row < task_end; ++row) {
    float* out = row_of(&call->output, row);
    const float* residual = row_of(&call->residual, row);
    for (int64_t i = 0; i < cols; ++i) out[i] = residual[i];
    for (int64_t slot = row * slots; slot < (row + 1) * slots; ++slot) {
      const int64_t from = call->row_index == NULL ? slot : call->row_index[slot];
      if (from < 0 || from >= call->row.shape[0]) return COLIBRI_INVALID_ARGUMENT;
      const float weight = (call->weight == NULL ? 1.0f : call->weight[slot]) * attributes->scale;
      const float* added = row_of(&call->row, from);
      for (int64_t i = 0; i < cols; ++i) out[i] = fmaf(weight, added[i], out[i]);
    }
  }
  return COLIBRI_OK;
}

/* The operators that this plugin knows, and how much of their attributes. */
static const uint32_t attribute_size[COLIBRI_OP_COUNT] = {
    [COLIBRI_OP_COMBINE] = sizeof(colibri_combine_attributes),
};

static const colibri_kernels_0 kernels = {
    .struct_size = sizeof(kernels),
    .draft = COLIBRI_KERNELS_DRAFT,
    .numerics = COLIBRI_NUMERICS_IDENTICAL,
    .supports = supports,
    .pack_layout = pack_layout,
    .pack = pack,
    .op_create = op_create,
    .op_tasks = op_tasks,
    .op_run = op_run,
    .attribute_size = attribute_size,
};

static const void* get_interface(const char* id) {
  return strcmp(id, "colibri.kernels/0") == 0 ? &kernels : NULL;
}

static const colibri_plugin plugin = {
    .struct_size = sizeof(plugin),
    .abi_minor = COLIBRI_ABI_MINOR,
    .id = "acme_combine",
    .version = "1.0.0",
    .get_interface = get_interface,
};

const colibri_plugin* colibri_plugin_v1(void) {
  return &plugin;
}
