// SPDX-License-Identifier: Apache-2.0
// What the checks of the interfaces have in common (see check.h).
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "colibri/plugin.h"
#include "runtime/base/status.h"
#include "runtime/plugin/plugin.h"

namespace colibri::plugin {

// Memory as the host hands it to a plugin: zeroed, 64-byte aligned, with a border that shows writes
// behind its end.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t bytes) : bytes_(bytes), memory_(bytes + 2 * kBorder, kMark) {
    begin_ = reinterpret_cast<std::byte*>(
        (reinterpret_cast<uintptr_t>(memory_.data()) + kAlignment - 1) / kAlignment * kAlignment);
    std::memset(begin_, 0, bytes_);
  }
  void* get() { return begin_; }
  bool intact() const {
    for (const std::byte* at = begin_ + bytes_; at != memory_.data() + memory_.size(); ++at) {
      if (*at != kMark) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kBorder = 128;
  static constexpr std::byte kMark{0xA5};
  size_t bytes_;
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
};

// A failure that a plugin reports has to say why.
inline Status expect_reason(const char* function, colibri_status code, const colibri_error& error) {
  if (code == COLIBRI_OK || error.text[0] != '\0') return {};
  return internal_error(std::string(function) + " fails without a text");
}

// Options that a pipeline might give: the default, else the smallest or first that is allowed.
Options sample_options(const Manifest& manifest);

// The questions of each interface. `bad_input`: every fallible function with what it must refuse or
// survive. `workers`: several threads, each with its own state, against one alone.
// COLIBRI_UNSUPPORTED: nothing to ask.
Status check_sampler_bad_input(const Plugin& plugin);
Status check_sampler_workers(const Plugin& plugin);
Status check_cache_policy_bad_input(const Plugin& plugin);
Status check_cache_policy_workers(const Plugin& plugin);
Status check_tokenizer_bad_input(const Plugin& plugin);
Status check_format_bad_input(const Plugin& plugin);
Status check_kernels_bad_input(const Plugin& plugin);

}  // namespace colibri::plugin
