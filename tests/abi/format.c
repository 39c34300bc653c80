/* SPDX-License-Identifier: Apache-2.0 */
/* A format made from the frozen headers: a file "weights.toy" is "TOY1" and then one row of float32
 * numbers. */
#include "colibri/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t file;
  uint64_t size;
} toy_model;

static int same(colibri_str text, const char* other) {
  return text.size == strlen(other) && memcmp(text.data, other, text.size) == 0;
}

static colibri_status find(const colibri_file* files, toy_model* model, char* why_not,
                           size_t room) {
  char magic[4];
  for (model->file = 0; model->file < files->count; ++model->file) {
    if (!same(files->name(files, model->file), "weights.toy")) continue;
    model->size = files->size(files, model->file);
    if (model->size >= 4 && files->read(files, model->file, 0, magic, 4, NULL) == COLIBRI_OK &&
        memcmp(magic, "TOY1", 4) == 0 && model->size % 4 == 0) {
      return COLIBRI_OK;
    }
    snprintf(why_not, room, "weights.toy does not start with TOY1 or is no row of numbers");
    return COLIBRI_CORRUPT_DATA;
  }
  snprintf(why_not, room, "no file weights.toy");
  return COLIBRI_NOT_FOUND;
}

static int32_t accepts(const colibri_file* files, char why_not[128]) {
  toy_model model;
  return find(files, &model, why_not, 128) == COLIBRI_OK;
}

static colibri_status open_model(const colibri_file* files, void** model, colibri_error* error) {
  toy_model found;
  char text[128];
  const colibri_status status = find(files, &found, text, sizeof(text));
  if (status != COLIBRI_OK) {
    if (error != NULL) {
      error->code = status;
      snprintf(error->text, sizeof(error->text), "%s", text);
    }
    return status;
  }
  *model = malloc(sizeof(found));
  if (*model == NULL) return COLIBRI_OUT_OF_MEMORY;
  memcpy(*model, &found, sizeof(found));
  return COLIBRI_OK;
}

static void close_model(void* model) {
  free(model);
}

static const char* vocabulary(const void* model) {
  (void)model;
  return "hf";
}

static uint64_t tensor_count(const void* model) {
  (void)model;
  return 1;
}

static colibri_status tensor(const void* model, uint64_t i, colibri_tensor_entry* entry) {
  const toy_model* toy = model;
  if (i != 0) return COLIBRI_NOT_FOUND;
  entry->name.data = "row";
  entry->name.size = 3;
  entry->codec = COLIBRI_CODEC_F32;
  entry->layout = 0;
  entry->rank = 1;
  entry->shape[0] = (int64_t)(toy->size / 4) - 1;
  entry->file = toy->file;
  entry->offset = 4;
  entry->bytes = toy->size - 4;
  entry->checksum = 0;
  return COLIBRI_OK;
}

static colibri_status metadata(const void* model, colibri_str key, uint64_t index,
                               colibri_value* value) {
  (void)model;
  (void)key;
  (void)index;
  (void)value;
  return COLIBRI_NOT_FOUND;
}

static uint64_t metadata_count(const void* model) {
  (void)model;
  return 0;
}

static colibri_status metadata_key(const void* model, uint64_t i, colibri_str* key) {
  (void)model;
  (void)i;
  (void)key;
  return COLIBRI_NOT_FOUND;
}

static colibri_status resource(const void* model, colibri_str name, colibri_str* bytes,
                               colibri_error* error) {
  (void)model;
  (void)name;
  (void)bytes;
  (void)error;
  return COLIBRI_NOT_FOUND;
}

static const colibri_format_1 table = {sizeof(table),  accepts,      open_model, close_model,
                                       vocabulary,     tensor_count, tensor,     metadata,
                                       metadata_count, metadata_key, resource};

static const void* get_interface(const char* id) {
  return strcmp(id, "colibri.format/1") == 0 ? &table : NULL;
}

static const colibri_plugin plugin = {
    sizeof(plugin), COLIBRI_ABI_MINOR, "frozen_format", "1.0.0", NULL, NULL, get_interface};

const colibri_plugin* colibri_plugin_v1(void) {
  return &plugin;
}
