// SPDX-License-Identifier: Apache-2.0
// The small text files of /proc and /sys: they report a size of 0 or 4096, so that the reads of
// base/file.h do not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri::machine {

// The text of a file, at most 1 MiB of it; nothing if it cannot be read.
std::optional<std::string> read_system_file(const std::string& path);

// The whole number that a file holds; nothing if there is no such file or no number ("max").
std::optional<uint64_t> read_number(const std::string& path);

// The number behind "key" at the start of a line, as in /proc/meminfo ("MemTotal:  16 kB") and
// memory.stat.
std::optional<uint64_t> number_of(std::string_view text, std::string_view key);

std::vector<std::string_view> split(std::string_view text, char separator);  // empty parts left out
std::string_view trimmed(std::string_view text);              // of blanks and line ends
std::optional<uint64_t> parse_number(std::string_view text);  // decimal, all of the text

}  // namespace colibri::machine
