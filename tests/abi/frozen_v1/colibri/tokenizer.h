/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.h: "colibri.tokenizer/1". Text to ids and back, exactly as the checkpoint's own tokenizer does it. */
#ifndef COLIBRI_TOKENIZER_H
#define COLIBRI_TOKENIZER_H

#include "colibri/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct colibri_resource { /* a file of the checkpoint, e.g. "tokenizer.json"; borrowed for the call */
  uint32_t struct_size;
  colibri_str name;
  colibri_str bytes;
} colibri_resource;

enum {
  COLIBRI_ENCODE_PARSE_SPECIAL = 1, /* special tokens spelled out in the text become their ids */
  COLIBRI_ENCODE_ADD_SPECIAL = 2    /* BOS, EOS and the like, as the checkpoint's post-processor says */
};

typedef struct colibri_tokenizer_1 {
  uint32_t struct_size;
  /* 1 if these resources are this plugin's kind, judged by content; else 0 and a reason. [setup] */
  int32_t (*accepts)(const colibri_resource* resources, uint32_t n, char why_not[128]);
  /* Parses the resources. Refuses by name every model kind, normalizer, pre-tokenizer, post-processor or decoder that it
   * does not implement exactly. The tokenizer belongs to the host until destroy. [setup] */
  colibri_status (*create)(const colibri_resource* resources, uint32_t n, const colibri_host* host, void** tokenizer,
                           colibri_error* error);
  /* A compiled form (tries, merge tables) that a container may store and map; keyed by the plugin's id and version.
   * to = NULL asks for the size in *bytes. NULL = none. [setup] */
  colibri_status (*compile)(const void* tokenizer, void* to, uint64_t* bytes, colibri_error* error);
  /* Opens a compiled form; the bytes stay valid until destroy and are as hostile as any file. NULL = none. [setup] */
  colibri_status (*open_compiled)(colibri_str compiled, const colibri_host* host, void** tokenizer, colibri_error* error);
  void (*destroy)(void* tokenizer); /* [setup] */
  /* Number of ids: all ids are in [0, vocabulary). [any] */
  uint32_t (*vocabulary)(const void* tokenizer);
  /* Writes at most capacity ids and sets *n to the number needed; *n > capacity is still COLIBRI_OK. text must be valid
   * UTF-8 (COLIBRI_INVALID_ARGUMENT with the byte offset otherwise). flags: COLIBRI_ENCODE_*. [any] */
  colibri_status (*encode)(const void* tokenizer, colibri_str text, uint32_t flags, int32_t* ids, size_t capacity, size_t* n,
                           colibri_error* error);
  /* Raw bytes of a token, possibly half a character; valid until destroy. An unknown id gives size 0. [any] */
  colibri_str (*token_bytes)(const void* tokenizer, int32_t id);
  /* The id whose content (as the tokenizer file spells it) is this text, or -1. [any] */
  int32_t (*token_id)(const void* tokenizer, colibri_str content);
  int32_t (*is_special)(const void* tokenizer, int32_t id); /* [any] */
  /* Ids of a role: "bos", "eos" (possibly several), "pad", "unk"; *n = 0 when there are none. Writes at most capacity. [any] */
  colibri_status (*special)(const void* tokenizer, colibri_str role, int32_t* ids, size_t capacity, size_t* n);
  /* Streaming decode. The state (zeroed memory of decode_state_bytes) remembers an unfinished character and leading-space
   * rules. Appends complete UTF-8 only; bytes that can no longer become a character are written as U+FFFD, as the
   * checkpoint's own decoder does. Writes at most capacity bytes; COLIBRI_OUT_OF_MEMORY, with the state unchanged and *n
   * the bytes needed, if they do not fit. No allocation. [any, one at a time per state] */
  size_t (*decode_state_bytes)(const void* tokenizer);
  colibri_status (*decode_next)(const void* tokenizer, void* state, int32_t id, int32_t skip_special, char* text,
                                size_t capacity, size_t* n);
  /* End of the text: writes what is left of an unfinished character as U+FFFD and resets the state. */
  colibri_status (*decode_finish)(const void* tokenizer, void* state, char* text, size_t capacity, size_t* n);
} colibri_tokenizer_1;

#ifdef __cplusplus
}
#endif
#endif
