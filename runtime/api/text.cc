// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/api/objects.h"

using colibri::Status;
namespace api = colibri::api;

namespace {

colibri::Result<const colibri::engine::Tokenizer*> tokenizer_of(const colibri_model* model) {
  if (model == nullptr) return colibri::invalid_argument("model must not be NULL");
  return model->model->plan().required_tokenizer();
}

}  // namespace

colibri_status colibri_tokenize(const colibri_model* model, colibri_str text, uint32_t flags,
                                int32_t* ids, size_t capacity, size_t* n, colibri_error* error) {
  return colibri::guard(error, [&]() -> Status {
    COLIBRI_ASSIGN(const auto* tokenizer, tokenizer_of(model));
    static_assert(COLIBRI_TOKENIZE_PARSE_SPECIAL == +COLIBRI_ENCODE_PARSE_SPECIAL &&
                  COLIBRI_TOKENIZE_ADD_SPECIAL == +COLIBRI_ENCODE_ADD_SPECIAL);
    COLIBRI_ASSIGN(const std::vector<int32_t> made,
                   tokenizer->encode(colibri::from_c(text), flags));
    std::copy_n(made.begin(), std::min(capacity, made.size()), ids);
    *n = made.size();
    return {};
  });
}

colibri_status colibri_detokenize(const colibri_model* model, const int32_t* ids, size_t count,
                                  int special, char* text, size_t capacity, size_t* n,
                                  colibri_error* error) {
  return colibri::guard(error, [&]() -> Status {
    COLIBRI_ASSIGN(const auto* tokenizer, tokenizer_of(model));
    COLIBRI_ASSIGN(const std::string made, tokenizer->decode(ids, count, special == 0));
    std::copy_n(made.begin(), std::min(capacity, made.size()), text);
    *n = made.size();
    return {};
  });
}
