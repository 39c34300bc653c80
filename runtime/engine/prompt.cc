// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/prompt.h"

#include <algorithm>
#include <array>
#include <string>

namespace colibri::engine {
namespace {

constexpr std::string_view kInput = "{input}";

// The spellings of the special tokens.
class Spellings {
 public:
  explicit Spellings(const Tokenizer& tokenizer) {
    const auto vocabulary = static_cast<int32_t>(tokenizer.vocabulary());
    for (int32_t id = 0; id < vocabulary; ++id) {
      if (!tokenizer.is_special(id)) continue;
      const std::string_view spelled = tokenizer.token_bytes(id);
      if (!spelled.empty()) by_first_[static_cast<unsigned char>(spelled[0])].push_back(spelled);
    }
    for (auto& spellings : by_first_) {
      std::sort(spellings.begin(), spellings.end(),
                [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
    }
  }

  // Bytes of the longest special token spelled at text[at]; 0 = none.
  size_t at(std::string_view text, size_t at) const {
    for (const std::string_view spelled : by_first_[static_cast<unsigned char>(text[at])]) {
      if (text.substr(at).starts_with(spelled)) return spelled.size();
    }
    return 0;
  }

 private:
  std::array<std::vector<std::string_view>, 256> by_first_;  // longest first
};

// A stretch of text that begins with a trusted special token, or at the beginning of the text, and
// holds no further one.
struct Stretch {
  size_t begin;
  size_t text;      // behind the special token
  bool misleading;  // spells a special token that is not trusted
};

std::vector<Stretch> stretches_of(std::string_view text, const std::vector<bool>& trusted,
                                  const Spellings& spellings) {
  std::vector<Stretch> stretches = {{0, 0, false}};
  for (size_t at = 0; at < text.size();) {
    const size_t size = spellings.at(text, at);
    const auto begin = trusted.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    if (size > 0 && std::find(begin, end, false) == end) {
      stretches.push_back({at, at + size, false});
      at += size;
    } else {
      stretches.back().misleading = stretches.back().misleading || size > 0;
      ++at;  // not past it: a trusted token may begin within it
    }
  }
  return stretches;
}

}  // namespace

Result<std::vector<int32_t>> encode_pieces(const Tokenizer& tokenizer,
                                           std::span<const PromptPiece> pieces, uint32_t flags) {
  std::string text;
  std::vector<bool> trusted;
  for (const PromptPiece& piece : pieces) {
    text += piece.text;
    trusted.resize(text.size(), piece.trusted);
  }
  const std::vector<Stretch> stretches = stretches_of(text, trusted, Spellings(tokenizer));
  // Tokenizers treat the text between special tokens piece by piece, so that nothing changes where
  // it is cut at one. Only a stretch that misleads is encoded apart from its token, unparsed.
  std::vector<int32_t> ids;
  const auto add = [&](size_t from, size_t to, uint32_t parse) -> Status {
    if (from == to && flags == 0) return {};
    COLIBRI_ASSIGN(const std::vector<int32_t> more,
                   tokenizer.encode(std::string_view(text).substr(from, to - from), parse | flags));
    ids.insert(ids.end(), more.begin(), more.end());
    flags = 0;
    return {};
  };
  size_t done = 0;
  for (size_t i = 0; i < stretches.size(); ++i) {
    if (!stretches[i].misleading) continue;
    const size_t end = i + 1 < stretches.size() ? stretches[i + 1].begin : text.size();
    if (stretches[i].text > done) {
      COLIBRI_TRY(add(done, stretches[i].text, COLIBRI_ENCODE_PARSE_SPECIAL));
    }
    COLIBRI_TRY(add(stretches[i].text, end, 0));
    done = end;
  }
  if (done < text.size() || done == 0) {
    COLIBRI_TRY(add(done, text.size(), COLIBRI_ENCODE_PARSE_SPECIAL));
  }
  return ids;
}

Result<std::vector<int32_t>> encode_prompt(const Tokenizer& tokenizer, std::string_view prompt,
                                           std::string_view input) {
  if (prompt == kInput) {
    return tokenizer.encode(input, COLIBRI_ENCODE_PARSE_SPECIAL | COLIBRI_ENCODE_ADD_SPECIAL);
  }
  std::vector<PromptPiece> pieces;
  for (size_t at = 0;;) {
    const size_t next = prompt.find(kInput, at);
    pieces.push_back({prompt.substr(at, next - at), true});
    if (next == std::string_view::npos) break;
    pieces.push_back({input, false});
    at = next + kInput.size();
  }
  return encode_pieces(tokenizer, pieces, COLIBRI_ENCODE_ADD_SPECIAL);
}

}  // namespace colibri::engine
