// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/template/text.h"

#include <algorithm>
#include <utility>

namespace colibri::chat {

Text::Text(std::string bytes, bool trusted) {
  if (bytes.empty()) return;
  const size_t size = bytes.size();
  rep_ = std::make_shared<const Rep>(Rep{std::move(bytes), {{size, trusted}}});
}

Text::Text(std::string bytes, std::vector<Run> runs) {
  if (bytes.empty()) return;
  rep_ = std::make_shared<const Rep>(Rep{std::move(bytes), std::move(runs)});
}

const std::vector<Text::Run>& Text::runs() const {
  static const std::vector<Run> none;
  return rep_ ? rep_->runs : none;
}

Text Text::part(size_t from, size_t n) const {
  if (n == size()) return *this;
  std::vector<Run> cut;
  const auto first = std::upper_bound(runs().begin(), runs().end(), from,
                                      [](size_t at, const Run& run) { return at < run.end; });
  for (auto run = first; n > 0 && run != runs().end(); ++run) {
    cut.push_back({std::min(run->end - from, n), run->trusted});
    if (cut.back().end == n) break;
  }
  return {std::string(view().substr(from, n)), std::move(cut)};
}

void TextBuilder::add(const Text& text, size_t from, size_t n) {
  if (n == 0) return;
  if (text.runs().size() == 1) return add(text.view().substr(from, n), text.runs()[0].trusted);
  const Text piece = text.part(from, n);
  size_t at = 0;
  for (const Text::Run& run : piece.runs()) {
    add(piece.view().substr(at, run.end - at), run.trusted);
    at = run.end;
  }
}

void TextBuilder::add(std::string_view bytes, bool trusted) {
  if (bytes.empty() || !status_.ok()) return;
  status_ = budget_.allocate(bytes.size());
  if (!status_.ok()) return;
  bytes_ += bytes;
  if (!runs_.empty() && runs_.back().trusted == trusted) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back({bytes_.size(), trusted});
  }
}

Result<Text> TextBuilder::finish() {
  COLIBRI_TRY(status_);
  return Text(std::move(bytes_), std::move(runs_));
}

}  // namespace colibri::chat
