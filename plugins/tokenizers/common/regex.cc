// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>

#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr size_t kMaxPattern = 65536;       // bytes
constexpr uint32_t kMatchLimit = 10000000;  // steps of one match
constexpr uint32_t kHeapLimit = 64 << 10;   // KiB
constexpr size_t kJitStackStart = 32 << 10;
constexpr size_t kJitStackLimit = 8 << 20;

std::string error_text(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

MatchMemory::MatchMemory()
    : data_(pcre2_match_data_create(1, nullptr)),
      context_(pcre2_match_context_create(nullptr)),
      stack_(pcre2_jit_stack_create(kJitStackStart, kJitStackLimit, nullptr)) {
  if (data_ == nullptr || context_ == nullptr) {
    pcre2_match_data_free(data_);
    pcre2_match_context_free(context_);
    pcre2_jit_stack_free(stack_);
    throw std::bad_alloc();
  }
  pcre2_set_match_limit(context_, kMatchLimit);
  pcre2_set_heap_limit(context_, kHeapLimit);
  pcre2_jit_stack_assign(context_, nullptr, stack_);  // null where there is no JIT: fine
}

MatchMemory::~MatchMemory() {
  pcre2_match_data_free(data_);
  pcre2_match_context_free(context_);
  pcre2_jit_stack_free(stack_);
}

void Regex::Free::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free(code);
}

Result<Regex> Regex::compile(const std::string& pattern, std::string_view shown) {
  if (pattern.size() > kMaxPattern) {
    return unsupported("the pattern " + utf8::printable(shown) + " is longer than " +
                       std::to_string(kMaxPattern) + " bytes");
  }
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  if (context == nullptr) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  // Two optimisations of 10.42 lose matches: automatic possessive quantifiers those of
  // a{0,2}(?:x)?+a in "ay", start optimisations under JIT those of (?>\S+?)a in "zya". The patterns
  // of tokenizers are as fast without them.
  constexpr uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NO_UTF_CHECK |
                                PCRE2_NO_AUTO_POSSESS | PCRE2_NO_START_OPTIMIZE;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   kOptions, &error, &offset, context.get());
  if (code == nullptr) {
    return unsupported("the pattern " + utf8::printable(shown) +
                       " cannot be compiled: " + error_text(error));
  }
  // Where there is no JIT the interpreter finds the same matches, more slowly.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return Regex(code);
}

Result<Match> Regex::find(std::string_view text, size_t from, MatchMemory& memory) const {
  const int result =
      pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                  PCRE2_NO_UTF_CHECK, memory.data_, memory.context_);
  if (result == PCRE2_ERROR_NOMATCH) return Match{std::string_view::npos, std::string_view::npos};
  if (result < 0) {
    return invalid_argument("the pre-tokenizer's pattern gave up behind byte " +
                            std::to_string(from) + " of the text: " + error_text(result));
  }
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(memory.data_);
  return Match{offsets[0], offsets[1]};
}

}  // namespace colibri::tokenizers
