// SPDX-License-Identifier: Apache-2.0
// Text: a string that remembers, byte by byte, who wrote it. What the template itself says is
// trusted: there a special token means itself. What comes from messages, tools and other variables
// is not: a special token spelled there is only text. Cutting and joining keep the marks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/chat/template/budget.h"

namespace colibri::chat {

// Immutable and cheap to copy. UTF-8.
class Text {
 public:
  struct Run {
    size_t end;  // byte behind it
    bool trusted;
  };

  Text() = default;
  Text(std::string bytes, bool trusted);
  Text(std::string bytes, std::vector<Run> runs);

  std::string_view view() const { return rep_ ? std::string_view(rep_->bytes) : ""; }
  size_t size() const { return view().size(); }
  bool empty() const { return size() == 0; }
  // Neighbours differ in trust; the last ends at size().
  const std::vector<Run>& runs() const;
  // Bytes [from, from + n).
  Text part(size_t from, size_t n) const;

 private:
  struct Rep {
    std::string bytes;
    std::vector<Run> runs;
  };
  std::shared_ptr<const Rep> rep_;
};

// Joins texts. Once the budget is used up it takes no more and finish() fails.
class TextBuilder {
 public:
  explicit TextBuilder(Budget& budget) : budget_(budget) {}

  void add(const Text& text) { add(text, 0, text.size()); }
  void add(const Text& text, size_t from, size_t n);
  void add(std::string_view bytes, bool trusted);
  size_t size() const { return bytes_.size(); }
  const Status& status() const { return status_; }
  Result<Text> finish();

 private:
  Budget& budget_;
  std::string bytes_;
  std::vector<Text::Run> runs_;
  Status status_;
};

}  // namespace colibri::chat
