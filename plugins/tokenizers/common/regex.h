// SPDX-License-Identifier: Apache-2.0
// A compiled pattern (PCRE2 with JIT), and the working memory of one thread that matches.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace colibri::tokenizers {

// What matching needs besides the pattern; serves any pattern, one thread at a time. Throws
// std::bad_alloc.
class MatchMemory {
 public:
  MatchMemory();
  ~MatchMemory();
  MatchMemory(const MatchMemory&) = delete;
  MatchMemory& operator=(const MatchMemory&) = delete;

 private:
  friend class Regex;
  pcre2_real_match_data_8* data_;
  pcre2_real_match_context_8* context_;
  pcre2_real_jit_stack_8* stack_;
};

struct Match {
  size_t begin, end;  // bytes
};

class Regex {
 public:
  // Compiles a pattern of pattern.h. `shown` is the pattern as the file has it.
  static Result<Regex> compile(const std::string& pattern, std::string_view shown);

  // The first match at or behind `from`; begin = npos if there is none. text must be valid UTF-8
  // and is not checked. COLIBRI_INVALID_ARGUMENT if matching takes more steps or memory than any
  // sensible text would. Thread-safe.
  Result<Match> find(std::string_view text, size_t from, MatchMemory& memory) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  explicit Regex(pcre2_real_code_8* code) : code_(code) {}
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace colibri::tokenizers
