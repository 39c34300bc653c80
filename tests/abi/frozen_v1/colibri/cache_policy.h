/* SPDX-License-Identifier: Apache-2.0 */
/* cache_policy.h: "colibri.cache_policy/1". Which experts stay in memory.
 *
 * Pure bookkeeping over keys: no I/O, no clock, no threads, no allocation; the same calls give the same victims, so that
 * a recorded trace replays exactly. The host owns the state memory and makes all calls on one state one after another.
 * key = layer * experts + expert. */
#ifndef COLIBRI_CACHE_POLICY_H
#define COLIBRI_CACHE_POLICY_H

#include "colibri/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct colibri_cache_shape {
  uint32_t struct_size;
  uint32_t layers, experts, top_k;
  uint32_t classes;              /* slots of one class have one size (mixed precision gives several) */
  const uint8_t* class_of_layer; /* [layers] */
  const uint32_t* slots;         /* [classes] slots that the budget grants */
} colibri_cache_shape;

typedef struct colibri_cache_policy_1 {
  uint32_t struct_size;
  /* Bytes of state for this shape; the host hands over as many, 64-byte aligned, zeroed. [setup] */
  uint64_t (*state_bytes)(const colibri_cache_shape* shape, const colibri_host* host);
  /* Prepares the state; shape and its arrays are borrowed for the call. [setup] */
  colibri_status (*create)(const colibri_cache_shape* shape, const colibri_host* host, void* state, colibri_error* error);
  /* Once per (step, layer): the experts it asks for, n distinct keys, ascending. resident[i] = 1 for a hit. prefetched = 1
   * for a guess, which must not count as a use. [any, one at a time] */
  void (*on_access)(void* state, uint64_t step, const uint32_t* keys, const uint8_t* resident, uint32_t n,
                    int32_t prefetched);
  /* A key became resident. [any, one at a time] */
  void (*on_insert)(void* state, uint32_t key);
  /* Chooses up to n residents of the class to drop, only from those whose bit (key % 64 of word key / 64) is set in
   * evictable: the host clears leased and loading ones. Writes them to keys, first victim first, and returns how many;
   * fewer than n means: do not admit the rest. Changes nothing: on_evict follows for each. [any, one at a time] */
  uint32_t (*victims)(void* state, uint32_t klass, const uint64_t* evictable, uint32_t n, uint32_t* keys);
  /* A key is no longer resident. [any, one at a time] */
  void (*on_evict)(void* state, uint32_t key);
  /* The budget of a class changed; the host evicts through victims() if it shrank. [any, one at a time] */
  colibri_status (*resize)(void* state, uint32_t klass, uint32_t slots);
} colibri_cache_policy_1;

#ifdef __cplusplus
}
#endif
#endif
