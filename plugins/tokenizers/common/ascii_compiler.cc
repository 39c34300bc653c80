// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/ascii_compiler.h"

#include <cctype>
#include <utility>

#include "plugins/tokenizers/common/regex.h"
#include "runtime/base/utf8.h"

namespace colibri::tokenizers {
namespace {

constexpr uint32_t kNoLimit = ~uint32_t{0};
constexpr int kMaxDepth = 8;
constexpr size_t kMaxNodes = 4096;

}  // namespace

std::optional<AsciiMatcher> AsciiCompiler::compile() {
  caseless_ = take("(?i)");
  std::vector<Sequence> branches;
  if (!read_branches(0, branches) || !in_.empty()) return std::nullopt;
  const int32_t accept = add({Node::Kind::kAccept, false, 1, 1, {}, -1, {}, {}});
  matcher_.root_ = add_branches(branches, accept);
  if (matcher_.nodes_.size() > kMaxNodes) return std::nullopt;
  matcher_.first_ = matcher_.first_of(matcher_.root_);
  return std::move(matcher_);
}

bool AsciiCompiler::take(std::string_view text) {
  if (!in_.starts_with(text)) return false;
  in_.remove_prefix(text.size());
  return true;
}

bool AsciiCompiler::read_branches(int depth, std::vector<Sequence>& branches) {
  if (depth > kMaxDepth) return false;
  do {
    Sequence sequence;
    while (!in_.empty() && in_[0] != '|' && in_[0] != ')') {
      Item item;
      if (!read_item(depth, item) || !read_quantifier(item)) return false;
      sequence.push_back(std::move(item));
    }
    branches.push_back(std::move(sequence));
  } while (take("|"));
  return branches.size() <= AsciiMatcher::kMaxBranches;
}

bool AsciiCompiler::read_item(int depth, Item& item) {
  if (in_[0] == '(') return read_group(depth, item);
  if (in_[0] == '^' || in_[0] == '$') return false;
  return read_set(item);
}

bool AsciiCompiler::read_group(int depth, Item& item) {
  const bool outside = caseless_;
  item.kind = Item::Kind::kGroup;
  if (take("(?i:")) {
    caseless_ = true;
  } else if (take("(?-i:")) {
    caseless_ = false;
  } else if (in_.starts_with("(?=") || in_.starts_with("(?!")) {
    item.kind = Item::Kind::kLook;
    item.negative = in_[2] == '!';
    in_.remove_prefix(3);
  } else if (!take("(?:")) {
    return false;
  }
  if (!read_branches(depth + 1, item.branches) || !take(")")) return false;
  caseless_ = outside;
  return true;
}

bool AsciiCompiler::read_set(Item& item) {
  size_t size = utf8::decode(in_, 0).size;
  if (in_[0] == '[') {
    while (size < in_.size() && in_[size] != ']') size += in_[size] == '\\' ? 2 : 1;
    ++size;
  } else if (in_[0] == '\\') {
    if (in_.size() < 2) return false;
    const char kind = in_[1];
    if (kind == 'x' || kind == 'p' || kind == 'P') {
      size = in_.find('}') + 1;
    } else if (std::isalnum(static_cast<unsigned char>(kind)) != 0) {
      return false;  // an anchor
    } else {
      size = 2;
    }
  }
  if (size == 0 || size > in_.size()) return false;
  const std::string_view element = in_.substr(0, size);
  in_.remove_prefix(size);
  return set_of(element, item.set);
}

// What the element matches is not worked out here but asked.
bool AsciiCompiler::set_of(std::string_view element, AsciiMatcher::Set& set) {
  const std::string pattern = std::string(caseless_ ? "(?i:" : "(?:") + std::string(element) + ")";
  const auto [known, fresh] = sets_.emplace(pattern, AsciiMatcher::Set());
  if (fresh) {
    const Result<Regex> regex = Regex::compile(pattern, pattern);
    if (!regex.ok()) return false;
    MatchMemory memory;
    for (size_t i = 0; i < known->second.size(); ++i) {
      const char c = static_cast<char>(i);
      const Result<Match> match = regex->find({&c, 1}, 0, memory);
      if (!match.ok()) return false;
      known->second[i] = match->begin == 0 && match->end == 1;
    }
  }
  set = known->second;
  return true;
}

bool AsciiCompiler::read_quantifier(Item& item) {
  if (in_.empty()) return true;
  bool counted = false;
  if (take("?")) {
    item.least = 0;
  } else if (take("*")) {
    item.least = 0;
    item.most = kNoLimit;
  } else if (take("+")) {
    item.most = kNoLimit;
  } else if (take("{")) {
    counted = true;
    if (!read_count(item.least)) return false;
    item.most = item.least;
    if (take(",") && !read_count(item.most)) item.most = kNoLimit;
    if (!take("}")) return false;
  } else {
    return true;
  }
  if (in_.starts_with("?") || (counted && in_.starts_with("+"))) return false;
  item.possessive = take("+");
  // Of a group only an optional one: its nodes then come once.
  return item.kind == Item::Kind::kSet ||
         (item.kind == Item::Kind::kGroup && item.least == 0 && item.most == 1 && !item.possessive);
}

bool AsciiCompiler::read_count(uint32_t& count) {
  size_t digits = 0;
  uint32_t value = 0;
  for (; digits < in_.size() && digits < 5 && in_[digits] >= '0' && in_[digits] <= '9'; ++digits) {
    value = value * 10 + static_cast<uint32_t>(in_[digits] - '0');
  }
  in_.remove_prefix(digits);
  if (digits > 0) count = value;
  return digits > 0;
}

int32_t AsciiCompiler::add(Node node) {
  matcher_.nodes_.push_back(std::move(node));
  return static_cast<int32_t>(matcher_.nodes_.size()) - 1;
}

int32_t AsciiCompiler::add_branches(const std::vector<Sequence>& branches, int32_t next) {
  if (branches.size() == 1) return add_sequence(branches[0], next);
  std::vector<int32_t> nodes;
  nodes.reserve(branches.size());
  for (const Sequence& branch : branches) nodes.push_back(add_sequence(branch, next));
  return add_choice(std::move(nodes));
}

int32_t AsciiCompiler::add_choice(std::vector<int32_t> nodes) {
  AsciiMatcher::Set first;
  std::vector<uint64_t> viable(first.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    first = matcher_.first_of(nodes[i]);
    for (size_t c = 0; c < viable.size(); ++c) viable[c] |= uint64_t{first[c]} << i;
  }
  return add({Node::Kind::kBranches, false, 1, 1, {}, -1, std::move(nodes), std::move(viable)});
}

int32_t AsciiCompiler::add_sequence(const Sequence& sequence, int32_t next) {
  for (size_t i = sequence.size(); i > 0; --i) next = add_item(sequence[i - 1], next);
  return next;
}

int32_t AsciiCompiler::add_item(const Item& item, int32_t next) {
  if (item.kind == Item::Kind::kSet) {
    return add({Node::Kind::kRun, item.possessive, item.least, item.most, item.set, next, {}, {}});
  }
  if (item.kind == Item::Kind::kLook) {
    const int32_t accept = add({Node::Kind::kAccept, false, 1, 1, {}, -1, {}, {}});
    const int32_t body = add_branches(item.branches, accept);
    return add({Node::Kind::kLook, item.negative, 1, 1, {}, next, {body}, {}});
  }
  const int32_t body = add_branches(item.branches, next);
  if (item.least > 0) return body;
  return add_choice({body, next});
}

}  // namespace colibri::tokenizers
