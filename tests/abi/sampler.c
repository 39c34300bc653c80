/* SPDX-License-Identifier: Apache-2.0 */
/* A sampler made from the frozen headers: keeps the best candidate. */
#include "colibri/sampler.h"

#include <string.h>

static uint64_t state_bytes(const colibri_host* host, uint32_t vocabulary) {
  (void)host;
  (void)vocabulary;
  return 0;
}

static colibri_status create(const colibri_host* host, uint32_t vocabulary, void* state,
                             colibri_error* error) {
  (void)host;
  (void)vocabulary;
  (void)state;
  (void)error;
  return COLIBRI_OK;
}

static colibri_status apply(void* state, colibri_candidates* list) {
  size_t best = 0, i;
  (void)state;
  for (i = 1; i < list->n; ++i) {
    if (list->logit[i] > list->logit[best]) best = i;
  }
  if (list->n > 0) {
    list->id[0] = list->id[best];
    list->logit[0] = list->logit[best];
    list->n = 1;
  }
  return COLIBRI_OK;
}

static const colibri_sampler_1 table = {sizeof(table), state_bytes, create, NULL, apply, NULL};

static const void* get_interface(const char* id) {
  return strcmp(id, "colibri.sampler/1") == 0 ? &table : NULL;
}

static const colibri_plugin plugin = {
    sizeof(plugin), COLIBRI_ABI_MINOR, "frozen_sampler", "1.0.0", NULL, NULL, get_interface};

const colibri_plugin* colibri_plugin_v1(void) {
  return &plugin;
}
