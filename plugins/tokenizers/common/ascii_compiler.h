// SPDX-License-Identifier: Apache-2.0
// Reads a pattern into the nodes of an AsciiMatcher.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/common/ascii_matcher.h"

namespace colibri::tokenizers {

class AsciiCompiler {
 public:
  explicit AsciiCompiler(std::string_view pattern) : in_(pattern) {}
  std::optional<AsciiMatcher> compile();

 private:
  using Node = AsciiMatcher::Node;
  struct Item;
  using Sequence = std::vector<Item>;
  struct Item {
    enum class Kind { kSet, kGroup, kLook };
    Kind kind = Kind::kSet;
    AsciiMatcher::Set set;
    std::vector<Sequence> branches;  // kGroup, kLook
    bool negative = false;           // kLook
    uint32_t least = 1, most = 1;
    bool possessive = false;
  };

  bool take(std::string_view text);
  // Each false: something that an AsciiMatcher does not do.
  bool read_branches(int depth, std::vector<Sequence>& branches);
  bool read_item(int depth, Item& item);
  bool read_group(int depth, Item& item);
  bool read_set(Item& item);
  bool read_quantifier(Item& item);
  bool read_count(uint32_t& count);
  bool set_of(std::string_view element, AsciiMatcher::Set& set);

  int32_t add(Node node);
  int32_t add_branches(const std::vector<Sequence>& branches, int32_t next);
  int32_t add_choice(std::vector<int32_t> nodes);
  int32_t add_sequence(const Sequence& sequence, int32_t next);
  int32_t add_item(const Item& item, int32_t next);

  std::string_view in_;
  bool caseless_ = false;
  std::map<std::string, AsciiMatcher::Set> sets_;  // of elements read before
  AsciiMatcher matcher_;
};

}  // namespace colibri::tokenizers
