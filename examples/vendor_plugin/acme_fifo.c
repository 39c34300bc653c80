/* SPDX-License-Identifier: Apache-2.0 */
/* A cache policy: first in, first out. The expert that has been in memory longest makes room,
 * however often it is used.
 *
 * The residents of each slot class stand in a doubly linked list, oldest first. All state is in the
 * memory that the host hands over, and every call but victims() takes constant time. */
#include <string.h>

#include "colibri/cache_policy.h"

#define NONE UINT32_MAX /* no key */

typedef struct { /* a link of the list: the keys before and behind it */
  uint32_t older, newer;
} link;

typedef struct { /* followed by the lists' ends [classes], the links [keys] and the classes of the
                    layers [layers] */
  uint32_t experts, classes, keys;
} fifo;

static link* ends_of(fifo* state) {
  return (link*)(state + 1);
} /* .older = newest key, .newer = oldest key */
static link* links_of(fifo* state) {
  return ends_of(state) + state->classes;
}
static uint8_t* classes_of(fifo* state) {
  return (uint8_t*)(links_of(state) + state->keys);
}

static link* ends_for(fifo* state, uint32_t key) {
  return ends_of(state) + classes_of(state)[key / state->experts];
}

static uint64_t state_bytes(const colibri_cache_shape* shape, const colibri_host* host) {
  const uint64_t keys = (uint64_t)shape->layers * shape->experts;
  (void)host;
  return sizeof(fifo) + sizeof(link) * (shape->classes + keys) + shape->layers;
}

static colibri_status create(const colibri_cache_shape* shape, const colibri_host* host,
                             void* memory, colibri_error* error) {
  fifo* state = memory;
  (void)host;
  (void)error;
  state->experts = shape->experts;
  state->classes = shape->classes;
  state->keys = shape->layers * shape->experts;
  for (uint32_t klass = 0; klass < shape->classes; ++klass) {
    ends_of(state)[klass].older = NONE;
    ends_of(state)[klass].newer = NONE;
  }
  memcpy(classes_of(state), shape->class_of_layer, shape->layers);
  return COLIBRI_OK;
}

static void on_access(void* memory, uint64_t step, const uint32_t* keys, const uint8_t* resident,
                      uint32_t n, int32_t prefetched) {
  (void)memory, (void)step, (void)keys, (void)resident, (void)n, (void)prefetched;
}

static void on_insert(void* memory, uint32_t key) {
  link* ends = ends_for(memory, key);
  link* links = links_of(memory);
  links[key].older = ends->older;
  links[key].newer = NONE;
  if (ends->older == NONE) {
    ends->newer = key;
  } else {
    links[ends->older].newer = key;
  }
  ends->older = key;
}

static void on_evict(void* memory, uint32_t key) {
  link* ends = ends_for(memory, key);
  link* links = links_of(memory);
  const link gone = links[key];
  if (gone.older == NONE) {
    ends->newer = gone.newer;
  } else {
    links[gone.older].newer = gone.newer;
  }
  if (gone.newer == NONE) {
    ends->older = gone.older;
  } else {
    links[gone.newer].older = gone.older;
  }
}

static uint32_t victims(void* memory, uint32_t klass, const uint64_t* evictable, uint32_t n,
                        uint32_t* keys) {
  uint32_t count = 0;
  uint32_t key = ends_of(memory)[klass].newer;
  for (; key != NONE && count < n; key = links_of(memory)[key].newer) {
    if ((evictable[key / 64] >> (key % 64) & 1) != 0) keys[count++] = key;
  }
  return count;
}

static colibri_status resize(void* memory, uint32_t klass, uint32_t slots) {
  (void)memory, (void)klass, (void)slots;
  return COLIBRI_OK;
}

static const colibri_cache_policy_1 table = {
    .struct_size = sizeof(table),
    .state_bytes = state_bytes,
    .create = create,
    .on_access = on_access,
    .on_insert = on_insert,
    .victims = victims,
    .on_evict = on_evict,
    .resize = resize,
};

static const void* get_interface(const char* id) {
  return strcmp(id, "colibri.cache_policy/1") == 0 ? &table : NULL;
}

static const colibri_plugin plugin = {
    .struct_size = sizeof(plugin),
    .abi_minor = COLIBRI_ABI_MINOR,
    .id = "acme_fifo",
    .version = "1.0.0",
    .get_interface = get_interface,
};

const colibri_plugin* colibri_plugin_v1(void) {
  return &plugin;
}
