// SPDX-License-Identifier: Apache-2.0
// The plugin "bpe": byte-level BPE from a Hugging Face tokenizer.json.
#include <algorithm>
#include <cstring>
#include <string>

#include "colibri/tokenizer.h"
#include "plugins/common/guard.h"
#include "plugins/tokenizers/bpe/accepts.h"
#include "plugins/tokenizers/bpe/tokenizer.h"
#include "runtime/base/utf8.h"

namespace colibri::bpe {
namespace {

const Tokenizer& self(const void* tokenizer) {
  return *static_cast<const Tokenizer*>(tokenizer);
}

std::string_view resource(const colibri_resource* resources, uint32_t n, std::string_view name) {
  for (uint32_t i = 0; i < n; ++i) {
    if (from_c(resources[i].name) == name) return from_c(resources[i].bytes);
  }
  return {};
}

int32_t accepts(const colibri_resource* resources, uint32_t n, char why_not[128]) {
  const std::string_view file = resource(resources, n, "tokenizer.json");
  colibri_error error = empty_error();
  const colibri_status status = plugin::guard(&error, [&]() -> Status {
    if (file.empty()) return not_found("there is no tokenizer.json");
    return check_byte_level_bpe(file);
  });
  if (status == COLIBRI_OK) return 1;
  const std::string_view text = utf8::truncated(error.text, 127);
  std::memcpy(why_not, text.data(), text.size());
  why_not[text.size()] = '\0';
  return 0;
}

colibri_status create(const colibri_resource* resources, uint32_t n, const colibri_host*,
                      void** tokenizer, colibri_error* error) {
  return plugin::guard(error, [&]() -> Status {
    const std::string_view file = resource(resources, n, "tokenizer.json");
    if (file.empty()) return not_found("tokenizer.json is missing or empty");
    COLIBRI_ASSIGN(auto made,
                   Tokenizer::read(file, resource(resources, n, "tokenizer_config.json")));
    *tokenizer = made.release();
    return {};
  });
}

void destroy(void* tokenizer) {
  delete static_cast<Tokenizer*>(tokenizer);
}

uint32_t vocabulary(const void* tokenizer) {
  return static_cast<uint32_t>(self(tokenizer).vocabulary());
}

colibri_status encode(const void* tokenizer, colibri_str text, uint32_t flags, int32_t* ids,
                      size_t capacity, size_t* n, colibri_error* error) {
  return plugin::guard(error, [&]() -> Status {
    const std::string_view utf8 = from_c(text);
    if (const size_t valid = utf8::valid_prefix(utf8); valid < utf8.size()) {
      return invalid_argument("the text is not UTF-8 at byte " + std::to_string(valid));
    }
    if ((flags & ~uint32_t{COLIBRI_ENCODE_PARSE_SPECIAL | COLIBRI_ENCODE_ADD_SPECIAL}) != 0) {
      return unsupported("unknown flags of encode");
    }
    std::vector<int32_t> result;
    COLIBRI_TRY(self(tokenizer).encode(utf8, (flags & COLIBRI_ENCODE_PARSE_SPECIAL) != 0,
                                       (flags & COLIBRI_ENCODE_ADD_SPECIAL) != 0, result));
    std::copy_n(result.begin(), std::min(capacity, result.size()), ids);
    *n = result.size();
    return {};
  });
}

colibri_str token_bytes(const void* tokenizer, int32_t id) {
  return to_c(self(tokenizer).bytes(id));
}

int32_t token_id(const void* tokenizer, colibri_str content) {
  int32_t id = -1;
  plugin::guard(nullptr, [&]() -> Status {
    id = self(tokenizer).id(from_c(content));
    return {};
  });
  return id;
}

int32_t is_special(const void* tokenizer, int32_t id) {
  return self(tokenizer).is_special(id);
}

colibri_status special(const void* tokenizer, colibri_str role, int32_t* ids, size_t capacity,
                       size_t* n) {
  const int32_t id = self(tokenizer).role(from_c(role));
  *n = id < 0 ? 0 : 1;
  if (id >= 0 && capacity > 0) ids[0] = id;
  return COLIBRI_OK;
}

size_t decode_state_bytes(const void*) {
  return sizeof(DecodeState);
}

// Runs step(state, out) on a copy of the state and keeps it if the text fits.
template <typename Step>
colibri_status decode_with(void* memory, char* text, size_t capacity, size_t* n, Step&& step) {
  DecodeState state;
  std::memcpy(&state, memory, sizeof(state));
  TextOut out{text, capacity};
  step(state, out);
  *n = out.size;
  if (out.size > capacity) return COLIBRI_OUT_OF_MEMORY;
  std::memcpy(memory, &state, sizeof(state));
  return COLIBRI_OK;
}

colibri_status decode_next(const void* tokenizer, void* state, int32_t id, int32_t skip_special,
                           char* text, size_t capacity, size_t* n) {
  return decode_with(state, text, capacity, n, [&](DecodeState& decoding, TextOut& out) {
    self(tokenizer).decode(decoding, id, skip_special != 0, out);
  });
}

colibri_status decode_finish(const void*, void* state, char* text, size_t capacity, size_t* n) {
  return decode_with(state, text, capacity, n, decode_end);
}

const colibri_tokenizer_1 kTable = {sizeof(colibri_tokenizer_1),
                                    accepts,
                                    create,
                                    nullptr,
                                    nullptr,
                                    destroy,
                                    vocabulary,
                                    encode,
                                    token_bytes,
                                    token_id,
                                    is_special,
                                    special,
                                    decode_state_bytes,
                                    decode_next,
                                    decode_finish};

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.tokenizer/1") == 0 ? &kTable : nullptr;
}

const colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "bpe", "0.1.0", nullptr, nullptr, get_interface};

}  // namespace
}  // namespace colibri::bpe

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::bpe::kPlugin;
}
