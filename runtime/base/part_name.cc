// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/part_name.h"

#include <charconv>

namespace colibri {
namespace {

constexpr size_t kDigits = 5;
constexpr std::string_view kOf = "-of-";

std::optional<uint32_t> number(std::string_view digits) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::string padded(uint32_t value) {
  const std::string digits = std::to_string(value);
  return std::string(kDigits - digits.size(), '0') + digits;
}

}  // namespace

std::optional<PartName> read_part_name(std::string_view file_name) {
  const size_t dot = file_name.rfind('.');
  constexpr size_t kTail = 1 + kDigits + kOf.size() + kDigits;  // "-00002-of-00003"
  if (dot == std::string_view::npos || dot < kTail) return std::nullopt;
  const std::string_view tail = file_name.substr(dot - kTail, kTail);
  if (tail[0] != '-' || tail.substr(1 + kDigits, kOf.size()) != kOf) return std::nullopt;
  const std::optional<uint32_t> part = number(tail.substr(1, kDigits));
  const std::optional<uint32_t> parts = number(tail.substr(kTail - kDigits));
  if (!part || !parts || *part < 1 || *part > *parts) return std::nullopt;
  return PartName{std::string(file_name.substr(0, dot - kTail)), *part, *parts,
                  std::string(file_name.substr(dot))};
}

std::string PartName::of(uint32_t other) const {
  return stem + "-" + padded(other) + std::string(kOf) + padded(parts) + extension;
}

}  // namespace colibri
