/* SPDX-License-Identifier: Apache-2.0 */
/* A tokenizer made from the frozen headers: each byte is a token. Its resource is "bytes.tok",
 * empty. */
#include "colibri/tokenizer.h"

#include <stdio.h>
#include <string.h>

static char bytes[256];

static int32_t accepts(const colibri_resource* resources, uint32_t n, char why_not[128]) {
  uint32_t i;
  for (i = 0; i < n; ++i) {
    if (resources[i].name.size == 9 && memcmp(resources[i].name.data, "bytes.tok", 9) == 0)
      return 1;
  }
  snprintf(why_not, 128, "no file bytes.tok");
  return 0;
}

static colibri_status create(const colibri_resource* resources, uint32_t n,
                             const colibri_host* host, void** tokenizer, colibri_error* error) {
  char why_not[128];
  (void)host;
  if (!accepts(resources, n, why_not)) {
    if (error != NULL) snprintf(error->text, sizeof(error->text), "%s", why_not);
    return COLIBRI_UNSUPPORTED;
  }
  *tokenizer = bytes;
  return COLIBRI_OK;
}

static void destroy(void* tokenizer) {
  (void)tokenizer;
}

static uint32_t vocabulary(const void* tokenizer) {
  (void)tokenizer;
  return 256;
}

static colibri_status encode(const void* tokenizer, colibri_str text, uint32_t flags, int32_t* ids,
                             size_t capacity, size_t* n, colibri_error* error) {
  size_t i;
  (void)tokenizer;
  (void)flags;
  (void)error;
  for (i = 0; i < text.size && i < capacity; ++i) ids[i] = (unsigned char)text.data[i];
  *n = text.size;
  return COLIBRI_OK;
}

static colibri_str token_bytes(const void* tokenizer, int32_t id) {
  colibri_str text = {bytes, 0};
  (void)tokenizer;
  if (id >= 0 && id < 256) {
    text.data = bytes + id;
    text.size = 1;
  }
  return text;
}

static int32_t token_id(const void* tokenizer, colibri_str content) {
  (void)tokenizer;
  return content.size == 1 ? (unsigned char)content.data[0] : -1;
}

static int32_t is_special(const void* tokenizer, int32_t id) {
  (void)tokenizer;
  (void)id;
  return 0;
}

static colibri_status special(const void* tokenizer, colibri_str role, int32_t* ids,
                              size_t capacity, size_t* n) {
  (void)tokenizer;
  (void)role;
  (void)ids;
  (void)capacity;
  *n = 0;
  return COLIBRI_OK;
}

static size_t decode_state_bytes(const void* tokenizer) {
  (void)tokenizer;
  return 0;
}

static colibri_status decode_next(const void* tokenizer, void* state, int32_t id,
                                  int32_t skip_special, char* text, size_t capacity, size_t* n) {
  (void)tokenizer;
  (void)state;
  (void)skip_special;
  *n = 1;
  if (capacity < 1) return COLIBRI_OUT_OF_MEMORY;
  text[0] = id >= 0 && id < 128 ? (char)id : '?';
  return COLIBRI_OK;
}

static colibri_status decode_finish(const void* tokenizer, void* state, char* text, size_t capacity,
                                    size_t* n) {
  (void)tokenizer;
  (void)state;
  (void)text;
  (void)capacity;
  *n = 0;
  return COLIBRI_OK;
}

static const colibri_tokenizer_1 table = {
    sizeof(table),      accepts,     create,       NULL,     NULL,       destroy,
    vocabulary,         encode,      token_bytes,  token_id, is_special, special,
    decode_state_bytes, decode_next, decode_finish};

static colibri_status open_plugin(const colibri_host* host, colibri_error* error) {
  int i;
  (void)host;
  (void)error;
  for (i = 0; i < 256; ++i) bytes[i] = (char)i;
  return COLIBRI_OK;
}

static const void* get_interface(const char* id) {
  return strcmp(id, "colibri.tokenizer/1") == 0 ? &table : NULL;
}

static const colibri_plugin plugin = {sizeof(plugin), COLIBRI_ABI_MINOR, "frozen_tokenizer",
                                      "1.0.0",        open_plugin,       NULL,
                                      get_interface};

const colibri_plugin* colibri_plugin_v1(void) {
  return &plugin;
}
