/* SPDX-License-Identifier: Apache-2.0 */
/* format.h: "colibri.format/1". A format describes a model: metadata, tensors as extents of files, resources. It reads
 * headers only, through the host; the host reads the weights. */
#ifndef COLIBRI_FORMAT_H
#define COLIBRI_FORMAT_H

#include "colibri/codec.h"
#include "colibri/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The files of a model as a format sees them: names relative to the model's folder, bounds-checked reads, no paths. */
typedef struct colibri_file {
  uint32_t struct_size;
  uint32_t count;                                                                /* files, sorted by name */
  colibri_str (*name)(const struct colibri_file* files, uint32_t file);          /* valid as long as files [setup] */
  uint64_t (*size)(const struct colibri_file* files, uint32_t file);             /* bytes [setup] */
  /* Reads exactly n bytes or fails with COLIBRI_IO (out of range included). [setup] */
  colibri_status (*read)(const struct colibri_file* files, uint32_t file, uint64_t offset, void* to, uint64_t n,
                         colibri_error* error);
  void* host; /* the host's own */
} colibri_file;

typedef struct colibri_tensor_entry {
  uint32_t struct_size;
  colibri_str name;       /* valid until close */
  uint32_t codec;         /* COLIBRI_CODEC_* */
  uint32_t layout;        /* 0 = row-major; else a layout id of kernels.h */
  uint32_t rank;          /* 0 to 4 */
  int64_t shape[4];       /* elements, outermost first */
  uint32_t file;          /* index into colibri_file */
  uint64_t offset, bytes; /* the extent; the host checks it against shape, codec and file size */
  uint64_t checksum;      /* XXH3-64 of the extent; 0 = none */
} colibri_tensor_entry;

typedef struct colibri_format_1 {
  uint32_t struct_size;
  /* 1 if these files are this format, judged by content and not by name alone; else 0 and a reason. [setup] */
  int32_t (*accepts)(const colibri_file* files, char why_not[128]);
  /* Reads and checks every header fact. files stay valid until close. [setup] */
  colibri_status (*open)(const colibri_file* files, void** model, colibri_error* error);
  void (*close)(void* model); /* [setup] */
  /* Which names the architecture document uses for this model: "hf", "gguf", or the plugin's own; static. [any] */
  const char* (*vocabulary)(const void* model);
  uint64_t (*tensor_count)(const void* model);                                            /* [any] */
  colibri_status (*tensor)(const void* model, uint64_t i, colibri_tensor_entry* entry);   /* [any] */
  /* Metadata under dotted keys: for "hf" the keys of config.json ("rope_parameters.rope_theta"), and those of
   * generation_config.json and tokenizer_config.json behind the prefixes "generation_config." and "tokenizer_config.".
   * An array gives its length first (kind ARRAY, index ignored when it is COLIBRI_WHOLE), then its elements by index.
   * COLIBRI_NOT_FOUND for an unknown key or index. Values live until close. [any] */
  colibri_status (*metadata)(const void* model, colibri_str key, uint64_t index, colibri_value* value);
  uint64_t (*metadata_count)(const void* model);                                          /* [any] */
  colibri_status (*metadata_key)(const void* model, uint64_t i, colibri_str* key);        /* [any] */
  /* The bytes of a named resource ("tokenizer.json", "chat_template.jinja"), read on first use and kept until close.
   * COLIBRI_NOT_FOUND if the model has none. [setup] */
  colibri_status (*resource)(const void* model, colibri_str name, colibri_str* bytes, colibri_error* error);
} colibri_format_1;

#define COLIBRI_WHOLE UINT64_MAX /* metadata(): the value itself, not an element of it */

#ifdef __cplusplus
}
#endif
#endif
