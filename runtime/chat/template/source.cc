// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/source.h"

#include <algorithm>
#include <utility>

#include "runtime/base/utf8.h"
#include "runtime/chat/template/characters.h"

namespace colibri::chat {

Result<Source> Source::make(std::string name, std::string_view text) {
  if (text.size() > kMostSourceBytes) {
    return invalid_argument(name + ": the template has " + std::to_string(text.size()) +
                            " bytes, more than " + std::to_string(kMostSourceBytes));
  }
  if (const size_t good = utf8::valid_prefix(text); good != text.size()) {
    return invalid_argument(name + ": the template is not UTF-8 at byte " + std::to_string(good));
  }
  Source source;
  source.name_ = std::move(name);
  source.text_.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    source.text_ += text[i] == '\r' ? '\n' : text[i];
  }
  if (source.text_.ends_with('\n')) source.text_.pop_back();
  return source;
}

std::string Source::place(size_t at) const {
  const std::string_view before = std::string_view(text_).substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n') + 1;  // npos + 1 = 0
  return name_ + ":" + std::to_string(line) + ":" +
         std::to_string(1 + count_characters(before.substr(start)));
}

}  // namespace colibri::chat
