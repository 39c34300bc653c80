// SPDX-License-Identifier: Apache-2.0
// A sampler: keeps the candidates whose logit is at least max - n * sigma, where sigma is the
// standard deviation of all logits in the list (C. Tang et al., "Top-n-sigma: not all logits are
// you need", 2024).
//
// Sums run in double in the order of the list, so that the result is the same bytes everywhere;
// sqrt is exact to the last bit by IEEE 754, as + - * / are.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "colibri/sampler.h"

namespace {

struct State {
  double n;
};

std::uint64_t state_bytes(const colibri_host*, std::uint32_t) {
  return sizeof(State);
}

colibri_status create(const colibri_host* host, std::uint32_t, void* memory, colibri_error*) {
  colibri_value value = {};
  value.struct_size = sizeof(value);
  const colibri_status status = host->option(host, {"n", 1}, &value);
  if (status == COLIBRI_OK) static_cast<State*>(memory)->n = value.f;
  return status;
}

colibri_status apply(void* memory, colibri_candidates* list) {
  if (list->n == 0) return COLIBRI_OK;
  double sum = 0;
  double best = list->logit[0];
  for (std::size_t i = 0; i < list->n; ++i) {
    sum += list->logit[i];
    if (list->logit[i] > best) best = list->logit[i];
  }
  const double mean = sum / static_cast<double>(list->n);
  double squares = 0;
  for (std::size_t i = 0; i < list->n; ++i) {
    const double distance = list->logit[i] - mean;
    squares += distance * distance;
  }
  const double sigma = std::sqrt(squares / static_cast<double>(list->n));
  const double least = best - static_cast<const State*>(memory)->n * sigma;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list->n; ++i) {
    if (list->logit[i] < least) continue;
    list->id[kept] = list->id[i];
    list->logit[kept++] = list->logit[i];
  }
  list->n = kept;
  return COLIBRI_OK;
}

constexpr colibri_sampler_1 table = {sizeof(colibri_sampler_1), state_bytes, create,
                                     /*accept=*/nullptr,        apply,       /*reset=*/nullptr};

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.sampler/1") == 0 ? &table : nullptr;
}

constexpr colibri_plugin plugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "acme_top_n_sigma", "1.0.0",
    /*open=*/nullptr,       /*close=*/nullptr, get_interface};

}  // namespace

extern "C" const colibri_plugin* colibri_plugin_v1() {
  return &plugin;
}
