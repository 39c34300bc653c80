// SPDX-License-Identifier: Apache-2.0
// Python's string operations on texts that carry marks of trust.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/chat/template/text.h"
#include "runtime/chat/template/value.h"

namespace colibri::chat {

enum class Side { kLeft, kRight, kBoth };

// str.strip and the like: drops white space, or the characters of *characters.
Text strip(const Text& text, Side side, const Text* characters);
// str.replace: the first `most` occurrences, all if negative.
Result<Text> replace(Budget& budget, const Text& text, const Text& from, const Text& to,
                     int64_t most);
// Character by character: the final sigma of Greek words becomes the ordinary one.
Result<Text> upper(Budget& budget, const Text& text);
Result<Text> lower(Budget& budget, const Text& text);
Result<Text> swap_case(Budget& budget, const Text& text);
// First character upper, others lower case.
Result<Text> capitalise(Budget& budget, const Text& text);
// str.title(): each run of letters capitalised. The filter `title` cuts at other places.
Result<Text> title_by_letters(Budget& budget, const Text& text);
Result<Text> title_by_spaces(Budget& budget, const Text& text);
// str.splitlines.
std::vector<Text> split_lines(const Text& text, bool keep_ends);
Result<Text> join(Budget& budget, const Text& separator, const std::vector<Text>& parts);

}  // namespace colibri::chat
