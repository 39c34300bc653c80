/* SPDX-License-Identifier: Apache-2.0 */
/* A cache policy made from the frozen headers: drops the lowest keys first. */
#include "colibri/cache_policy.h"

#include <string.h>

typedef struct {
  uint32_t layers, experts;
  uint8_t class_of_layer[];
} policy_state;

static uint64_t state_bytes(const colibri_cache_shape* shape, const colibri_host* host) {
  (void)host;
  return sizeof(policy_state) + shape->layers;
}

static colibri_status create(const colibri_cache_shape* shape, const colibri_host* host,
                             void* state, colibri_error* error) {
  policy_state* policy = state;
  (void)host;
  (void)error;
  policy->layers = shape->layers;
  policy->experts = shape->experts;
  memcpy(policy->class_of_layer, shape->class_of_layer, shape->layers);
  return COLIBRI_OK;
}

static void on_access(void* state, uint64_t step, const uint32_t* keys, const uint8_t* resident,
                      uint32_t n, int32_t prefetched) {
  (void)state;
  (void)step;
  (void)keys;
  (void)resident;
  (void)n;
  (void)prefetched;
}

static void on_key(void* state, uint32_t key) {
  (void)state;
  (void)key;
}

static uint32_t victims(void* state, uint32_t klass, const uint64_t* evictable, uint32_t n,
                        uint32_t* keys) {
  const policy_state* policy = state;
  uint32_t count = 0, key;
  for (key = 0; key < policy->layers * policy->experts && count < n; ++key) {
    const int may = (evictable[key / 64] >> (key % 64) & 1) != 0;
    if (may && policy->class_of_layer[key / policy->experts] == klass) keys[count++] = key;
  }
  return count;
}

static colibri_status resize(void* state, uint32_t klass, uint32_t slots) {
  (void)state;
  (void)klass;
  (void)slots;
  return COLIBRI_OK;
}

static const colibri_cache_policy_1 table = {sizeof(table), state_bytes, create, on_access,
                                             on_key,        victims,     on_key, resize};

static const void* get_interface(const char* id) {
  return strcmp(id, "colibri.cache_policy/1") == 0 ? &table : NULL;
}

static const colibri_plugin plugin = {
    sizeof(plugin), COLIBRI_ABI_MINOR, "frozen_cache_policy", "1.0.0", NULL, NULL, get_interface};

const colibri_plugin* colibri_plugin_v1(void) {
  return &plugin;
}
