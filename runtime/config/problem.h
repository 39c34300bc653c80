// SPDX-License-Identifier: Apache-2.0
// Problems of a document: where, which key, what is wrong and how to mend it. All of a document's
// problems are collected before any of them is reported.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace colibri::config {

// Where a value stands. Cheap to copy: the name is shared by all values of a file.
struct Position {
  std::shared_ptr<const std::string>
      file;        // as the user named it, or "--set", "default"; never null
  int line = 0;    // 1-based; 0 = the source has no lines
  int column = 0;  // 1-based, in characters

  std::string text() const;  // "pipeline.yaml:3:7", or only the name if there is no line
};
Position position_of_name(std::string name);  // a source without lines

struct Problem {
  Position position;
  std::string key;  // "experts.budget", "sampling.0.options.value"; empty = the document itself
  std::string text;

  std::string line() const;  // "pipeline.yaml:3:7: experts.budget: text"
};

// Collects the problems of one load, in the order of files and lines. Of one value only the first
// problem counts: those after it follow from it. Keeps 50 and counts the rest, because a hostile
// file can have hundreds of thousands.
class Problems {
 public:
  void add(const Position& position, std::string_view key, std::string text);
  void add_all(const Problems& other);
  bool empty() const { return list_.empty(); }
  const std::vector<Problem>& list() const { return list_; }
  Status status() const;  // ok if empty; else COLIBRI_INVALID_ARGUMENT, one problem a line

 private:
  std::vector<Problem> list_;
  size_t dropped_ = 0;
};

// Text of a user as it may stand in a message: 'text', control characters escaped, not too long.
std::string quote(std::string_view text);
// The key `name` within the key `key`: "experts.budget".
std::string join(const std::string& key, std::string_view name);
std::string joined(const std::vector<std::string_view>& names);  // "a, b, c"

// " (did you mean 'threads'? allowed: apiVersion, kind, ...)": what follows the name of something
// unknown. The suggestion is left out if nothing allowed is near.
std::string suggestion(std::string_view unknown, const std::vector<std::string_view>& allowed);

}  // namespace colibri::config
