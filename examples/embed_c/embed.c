/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a model, runs one forward pass over a text, and prints the five most likely next tokens.
 *
 *   embed MODEL_OR_PIPELINE TEXT
 *
 * Build it against an installed Colibri with the CMakeLists.txt beside it, or by hand:
 *   cc -std=c11 embed.c -lcolibri -lm -o embed */
#include <colibri/colibri.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 5 };

static int fail(const char* what, const colibri_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->text);
  return 1;
}

static void print_top(const colibri_model* model, const float* logits, uint32_t vocabulary) {
  int32_t best[TOP];
  for (int rank = 0; rank < TOP; ++rank) {
    best[rank] = -1;
    for (uint32_t id = 0; id < vocabulary; ++id) {
      int taken = 0;
      for (int i = 0; i < rank; ++i) taken |= best[i] == (int32_t)id;
      if (!taken && (best[rank] < 0 || logits[id] > logits[best[rank]])) best[rank] = (int32_t)id;
    }
  }
  double sum = 0;
  for (uint32_t id = 0; id < vocabulary; ++id) sum += exp((double)logits[id] - logits[best[0]]);
  for (int rank = 0; rank < TOP; ++rank) {
    char text[256];
    size_t n = 0;
    const colibri_status status =
        colibri_detokenize(model, &best[rank], 1, 1, text, sizeof text - 1, &n, NULL);
    text[status == COLIBRI_OK && n < sizeof text ? n : 0] = '\0';
    for (char* c = text; *c != '\0'; ++c) {
      if (*c == '\n') *c = ' '; /* one token, one line */
    }
    printf("%8.4f %%  %6d  %s\n", 100 * exp((double)logits[best[rank]] - logits[best[0]]) / sum,
           (int)best[rank], text);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: embed MODEL_OR_PIPELINE TEXT\n");
    return 2;
  }
  colibri_error error = {.struct_size = sizeof error};
  colibri_model* model = NULL;
  if (colibri_load_model(argv[1], NULL, &model, &error) != COLIBRI_OK) return fail("load", &error);

  const colibri_str text = {argv[2], strlen(argv[2])};
  const uint32_t flags = COLIBRI_TOKENIZE_PARSE_SPECIAL | COLIBRI_TOKENIZE_ADD_SPECIAL;
  size_t n = 0;
  if (colibri_tokenize(model, text, flags, NULL, 0, &n, &error) != COLIBRI_OK) {
    return fail("tokenize", &error);
  }
  int32_t* ids = malloc((n + 1) * sizeof *ids);
  const uint32_t vocabulary = colibri_vocabulary(model);
  float* logits = malloc(vocabulary * sizeof *logits);
  if (ids == NULL || logits == NULL) return 1;
  colibri_tokenize(model, text, flags, ids, n, &n, NULL);

  colibri_context* context = NULL;
  if (colibri_init_context(model, 0, &context, &error) != COLIBRI_OK) return fail("init", &error);
  if (colibri_run_inference(context, ids, n, logits, NULL, &error) != COLIBRI_OK) {
    return fail("run", &error);
  }
  print_top(model, logits, vocabulary);

  colibri_free_context(context);
  colibri_free_model(model);
  free(logits);
  free(ids);
  return 0;
}
