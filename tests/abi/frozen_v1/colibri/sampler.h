/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h: "colibri.sampler/1". One link of the sampling chain; it edits a list of candidates in place.
 *
 * The host draws the token (ChaCha20, from the seed of the request) after the last link, from softmax over the logits
 * that are left. A list that a link leaves empty is an error. Ties go to the lowest id. */
#ifndef COLIBRI_SAMPLER_H
#define COLIBRI_SAMPLER_H

#include "colibri/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct colibri_candidates {
  uint32_t struct_size;
  int32_t sorted; /* 1 = by logit, descending, ties by ascending id; else in ascending order of id */
  int32_t* id;    /* [n] */
  float* logit;   /* [n] finite */
  size_t n;       /* a link may lower it, moving the survivors to the front in the order they had */
} colibri_candidates;

typedef struct colibri_sampler_1 {
  uint32_t struct_size;
  /* Bytes of state; the host hands over as many, 64-byte aligned, zeroed. [setup] */
  uint64_t (*state_bytes)(const colibri_host* host, uint32_t vocabulary);
  /* Reads its options through host->option. [setup] */
  colibri_status (*create)(const colibri_host* host, uint32_t vocabulary, void* state, colibri_error* error);
  /* Sees every token of the prompt and every generated one, in order. NULL = of no interest. [any, one at a time] */
  void (*accept)(void* state, int32_t token);
  /* Edits the list: changes logits, sorts, or drops candidates; a link that changes logits of a sorted list in a way that
   * breaks the order must clear sorted and restore ascending ids. No allocation. [any, one at a time] */
  colibri_status (*apply)(void* state, colibri_candidates* candidates);
  /* Forgets all accepted tokens. NULL = nothing to forget. [any, one at a time] */
  void (*reset)(void* state);
} colibri_sampler_1;

#ifdef __cplusplus
}
#endif
#endif
