/* SPDX-License-Identifier: Apache-2.0 */
/* colibri.h: run Mixture-of-Experts language models from C. Link with libcolibri.
 *
 * Objects. A model is loaded once and shared: any number of threads may use it at the same time. A context is one
 * sequence with its key-value cache; contexts are independent, and one context is used by one thread at a time.
 *
 * Errors. Every call that can fail returns a colibri_status and writes why to the caller's colibri_error (may be NULL):
 * set error.struct_size = sizeof(colibri_error) first. Nothing is printed; no call exits or throws.
 *
 * Results do not depend on threads, chunk or expert budget: see docs/numerics.md. */
#ifndef COLIBRI_COLIBRI_H
#define COLIBRI_COLIBRI_H

#include "colibri/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct colibri_model colibri_model;
typedef struct colibri_context colibri_context;

/* How to load. Zero everywhere = the pipeline's or the default value. */
typedef struct colibri_model_params {
  uint32_t struct_size;
  const char* const* set; /* [set_count] overrides "key.path=value", as --set of the command line */
  uint32_t set_count;
} colibri_model_params;

/* Loads a model. path: a pipeline YAML, or a model folder or file (all settings at their defaults). params may be NULL.
 * On success *model is the caller's, to be freed with colibri_free_model after its last context. [any] */
COLIBRI_EXPORT colibri_status colibri_load_model(const char* path, const colibri_model_params* params, colibri_model** model,
                                                 colibri_error* error);
COLIBRI_EXPORT void colibri_free_model(colibri_model* model); /* NULL is fine [any] */

COLIBRI_EXPORT uint32_t colibri_vocabulary(const colibri_model* model); /* size of a logits row [any] */
COLIBRI_EXPORT uint32_t colibri_max_tokens(const colibri_model* model); /* longest sequence of a context [any] */

/* Another budget for the weights of experts, in bytes, from now on and also for calls in progress; the rest is read from
 * disk when it is needed. Changes no result. COLIBRI_INVALID_ARGUMENT below the room of two experts, COLIBRI_UNSUPPORTED
 * for a model without experts; a failure leaves the old budget. [any] */
COLIBRI_EXPORT colibri_status colibri_set_expert_budget(colibri_model* model, uint64_t bytes, colibri_error* error);

/* A context for sequences of up to max_tokens tokens (0 = context.max_tokens of the pipeline). Takes all memory that
 * later calls need. Freed with colibri_free_context, before its model. [any] */
COLIBRI_EXPORT colibri_status colibri_init_context(colibri_model* model, uint32_t max_tokens, colibri_context** context,
                                                   colibri_error* error);
COLIBRI_EXPORT void colibri_free_context(colibri_context* context); /* NULL is fine [any] */

/* How one call runs. Zero everywhere = defaults. */
typedef struct colibri_run_params {
  uint32_t struct_size;
  uint32_t threads;            /* 0 = what the pipeline says; at most threads.count are used */
  double deadline_seconds;     /* from the start of the call; 0 = none; passing it gives COLIBRI_CANCELLED */
  const volatile int* cancel;  /* set to non-zero from any thread or signal handler to end the call; NULL = none */
} colibri_run_params;

/* A fresh sequence: forgets what the context held, computes ids[0..n), and writes the logits of the last position,
 * [vocabulary] float32. Blocking. A failed call leaves the context empty and usable. [any, one at a time per context] */
COLIBRI_EXPORT colibri_status colibri_run_inference(colibri_context* context, const int32_t* ids, size_t n, float* logits,
                                                    const colibri_run_params* params, colibri_error* error);
/* Continues the sequence with n more ids and writes the logits of each of them, [n, vocabulary] float32. A failed call
 * leaves the sequence as it was before. [any, one at a time per context] */
COLIBRI_EXPORT colibri_status colibri_forward(colibri_context* context, const int32_t* ids, size_t n, float* logits,
                                              const colibri_run_params* params, colibri_error* error);
/* Forgets the sequence. [any, one at a time per context] */
COLIBRI_EXPORT void colibri_reset_context(colibri_context* context);
/* Tokens in the sequence. [any, one at a time per context] */
COLIBRI_EXPORT uint32_t colibri_context_tokens(const colibri_context* context);

/* One generated token. text: the complete characters that it finished, possibly none. Return 0 to go on, else generation
 * stops after this token. Runs on the calling thread. */
typedef int (*colibri_token_callback)(void* user, int32_t id, colibri_str text);

enum { /* why generation ended */
  COLIBRI_STOP_EOS = 1,
  COLIBRI_STOP_STRING = 2,
  COLIBRI_STOP_LENGTH = 3,   /* max_tokens, or the context is full */
  COLIBRI_STOP_CALLBACK = 4,
  COLIBRI_STOP_CANCELLED = 5 /* also returned as COLIBRI_CANCELLED */
};
typedef struct colibri_generate_result {
  uint32_t struct_size;
  uint32_t stop_reason; /* COLIBRI_STOP_* */
  uint32_t prompt_tokens, generated_tokens;
} colibri_generate_result;

/* Generates from a fresh sequence of ids, sampling as the pipeline says (sampling, generate.max_tokens, generate.seed,
 * generate.stop), calling back for every token. result may be NULL. [any, one at a time per context] */
COLIBRI_EXPORT colibri_status colibri_generate(colibri_context* context, const int32_t* ids, size_t n,
                                               const colibri_run_params* params, colibri_token_callback callback, void* user,
                                               colibri_generate_result* result, colibri_error* error);

enum { COLIBRI_TOKENIZE_PARSE_SPECIAL = 1, COLIBRI_TOKENIZE_ADD_SPECIAL = 2 };
/* Text to ids with the model's tokenizer. Writes at most capacity ids and sets *n to the number needed: a larger *n is
 * still COLIBRI_OK. flags: COLIBRI_TOKENIZE_*. [any] */
COLIBRI_EXPORT colibri_status colibri_tokenize(const colibri_model* model, colibri_str text, uint32_t flags, int32_t* ids,
                                               size_t capacity, size_t* n, colibri_error* error);
/* Ids to text, special tokens left out unless special is non-zero. Writes at most capacity bytes, sets *n to the number
 * needed; no NUL is appended. [any] */
COLIBRI_EXPORT colibri_status colibri_detokenize(const colibri_model* model, const int32_t* ids, size_t count, int special,
                                                 char* text, size_t capacity, size_t* n, colibri_error* error);

/* Offers a plugin that is linked into the program (its table as colibri_plugin_v1() would return it, its manifest as the
 * JSON of docs/abi.md) to every model loaded later. Both must live as long as the process. [setup] */
COLIBRI_EXPORT colibri_status colibri_register_plugin(const colibri_plugin* plugin, const char* manifest_json,
                                                      colibri_error* error);

/* Version of the library, e.g. "0.1.0"; static. [any] */
COLIBRI_EXPORT const char* colibri_version(void);

#ifdef __cplusplus
}
#endif
#endif
