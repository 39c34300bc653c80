// SPDX-License-Identifier: Apache-2.0
// The C table "colibri.tokenizer/1" over a C++ tokenizer. What differs between the plugins is how
// they read the files; a plugin's source names its reader and nothing else.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "colibri/tokenizer.h"
#include "plugins/tokenizers/common/decode_table.h"
#include "runtime/base/guard.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {

// The files of a checkpoint by their names.
class Resources {
 public:
  Resources(const colibri_resource* resources, uint32_t n) : resources_(resources), n_(n) {}
  // Empty if there is no such file.
  std::string_view operator[](std::string_view name) const {
    for (uint32_t i = 0; i < n_; ++i) {
      if (from_c(resources_[i].name) == name) return from_c(resources_[i].bytes);
    }
    return {};
  }

 private:
  const colibri_resource* resources_;
  uint32_t n_;
};

// Reader has, all static:
//   Status check(const Resources&)   ok if the files are of its kind, else why not, in a few words
//   Result<std::unique_ptr<Tokenizer>> read(const Resources&)
// Tokenizer has encode, id, role and table as bpe/tokenizer.h has them, all thread-safe.
template <typename Reader, typename Tokenizer>
class PluginTable {
 public:
  static const colibri_tokenizer_1 kTable;

 private:
  static const Tokenizer& self(const void* tokenizer) {
    return *static_cast<const Tokenizer*>(tokenizer);
  }

  static int32_t accepts(const colibri_resource* resources, uint32_t n, char why_not[128]) {
    colibri_error error = empty_error();
    const colibri_status status =
        guard(&error, [&] { return Reader::check(Resources(resources, n)); });
    if (status == COLIBRI_OK) return 1;
    const std::string_view text = utf8::truncated(error.text, 127);
    std::memcpy(why_not, text.data(), text.size());
    why_not[text.size()] = '\0';
    return 0;
  }

  static colibri_status create(const colibri_resource* resources, uint32_t n, const colibri_host*,
                               void** tokenizer, colibri_error* error) {
    return guard(error, [&]() -> Status {
      COLIBRI_ASSIGN(std::unique_ptr<Tokenizer> made, Reader::read(Resources(resources, n)));
      *tokenizer = made.release();
      return {};
    });
  }

  static void destroy(void* tokenizer) { delete static_cast<Tokenizer*>(tokenizer); }

  static uint32_t vocabulary(const void* tokenizer) {
    return static_cast<uint32_t>(self(tokenizer).table().ids());
  }

  static colibri_status encode(const void* tokenizer, colibri_str text, uint32_t flags,
                               int32_t* ids, size_t capacity, size_t* n, colibri_error* error) {
    return guard(error, [&]() -> Status {
      const std::string_view utf8 = from_c(text);
      if (const size_t valid = utf8::valid_prefix(utf8); valid < utf8.size()) {
        return invalid_argument("the text is not UTF-8 at byte " + std::to_string(valid));
      }
      if ((flags & ~uint32_t{COLIBRI_ENCODE_PARSE_SPECIAL | COLIBRI_ENCODE_ADD_SPECIAL}) != 0) {
        return unsupported("unknown flags of encode");
      }
      std::vector<int32_t> result;
      result.reserve(utf8.size() / 3 + 8);
      COLIBRI_TRY(self(tokenizer).encode(utf8, (flags & COLIBRI_ENCODE_PARSE_SPECIAL) != 0,
                                         (flags & COLIBRI_ENCODE_ADD_SPECIAL) != 0, result));
      std::copy_n(result.begin(), std::min(capacity, result.size()), ids);
      *n = result.size();
      return {};
    });
  }

  static colibri_str token_bytes(const void* tokenizer, int32_t id) {
    return to_c(self(tokenizer).table().bytes(id));
  }

  static int32_t token_id(const void* tokenizer, colibri_str content) {
    int32_t id = -1;
    guard(nullptr, [&]() -> Status {
      id = self(tokenizer).id(from_c(content));
      return {};
    });
    return id;
  }

  static int32_t is_special(const void* tokenizer, int32_t id) {
    return self(tokenizer).table().is_special(id);
  }

  static colibri_status special(const void* tokenizer, colibri_str role, int32_t* ids,
                                size_t capacity, size_t* n) {
    const std::vector<int32_t>& found = self(tokenizer).role(from_c(role));
    *n = found.size();
    std::copy_n(found.begin(), std::min(capacity, found.size()), ids);
    return COLIBRI_OK;
  }

  static size_t decode_state_bytes(const void*) { return sizeof(DecodeState); }

  // Runs step(state, out) on a copy of the state and keeps it if the text fits.
  template <typename Step>
  static colibri_status decode_with(void* memory, char* text, size_t capacity, size_t* n,
                                    Step step) {
    DecodeState state;
    std::memcpy(&state, memory, sizeof(state));
    TextOut out{text, capacity};
    step(state, out);
    *n = out.size;
    if (out.size > capacity) return COLIBRI_OUT_OF_MEMORY;
    std::memcpy(memory, &state, sizeof(state));
    return COLIBRI_OK;
  }

  static colibri_status decode_next(const void* tokenizer, void* state, int32_t id,
                                    int32_t skip_special, char* text, size_t capacity, size_t* n) {
    return decode_with(state, text, capacity, n, [&](DecodeState& decoding, TextOut& out) {
      self(tokenizer).table().decode(decoding, id, skip_special != 0, out);
    });
  }

  static colibri_status decode_finish(const void* tokenizer, void* state, char* text,
                                      size_t capacity, size_t* n) {
    return decode_with(state, text, capacity, n, [&](DecodeState& decoding, TextOut& out) {
      self(tokenizer).table().end(decoding, out);
    });
  }
};

template <typename Reader, typename Tokenizer>
const colibri_tokenizer_1 PluginTable<Reader, Tokenizer>::kTable = {sizeof(colibri_tokenizer_1),
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

}  // namespace colibri::tokenizers
