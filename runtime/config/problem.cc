// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/problem.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/base/utf8.h"

namespace colibri::config {
namespace {

constexpr size_t kMostProblems = 50;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Insertions, deletions, replacements and swaps of neighbours that turn a into b, case ignored
// (optimal string alignment distance).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

// How unlike two names are; a name that was cut short is close to the whole.
size_t unlikeness(std::string_view unknown, std::string_view candidate) {
  const bool beginning = unknown.size() >= 2 && candidate.starts_with(unknown);
  return beginning ? 1 : edit_distance(unknown, candidate);
}

std::string_view nearest(std::string_view unknown, const std::vector<std::string_view>& allowed) {
  if (unknown.size() > 40) return {};
  size_t best = std::max<size_t>(1, unknown.size() / 3) + 1;
  std::string_view found;
  for (const std::string_view candidate : allowed) {
    const size_t distance = unlikeness(unknown, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace

std::string Position::text() const {
  if (line == 0) return *file;
  return *file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Position position_of_name(std::string name) {
  return {std::make_shared<const std::string>(std::move(name)), 0, 0};
}

std::string Problem::line() const {
  return position.text() + ": " + (key.empty() ? "" : key + ": ") + text;
}

void Problems::add(const Position& position, std::string_view key, std::string text) {
  const auto order = [](const Position& p) { return std::tie(*p.file, p.line, p.column); };
  if (list_.size() == kMostProblems) {
    ++dropped_;
    return;
  }
  for (const Problem& problem : list_) {
    if (order(problem.position) == order(position) && problem.key == key) return;
  }
  const auto later = std::upper_bound(list_.begin(), list_.end(), position,
                                      [&](const Position& added, const Problem& problem) {
                                        return order(added) < order(problem.position);
                                      });
  list_.insert(later, {position, std::string(key), std::move(text)});
}

void Problems::add_all(const Problems& other) {
  for (const Problem& problem : other.list_) add(problem.position, problem.key, problem.text);
  dropped_ += other.dropped_;
}

Status Problems::status() const {
  if (empty()) return {};
  std::string text;
  for (const Problem& problem : list_) {
    if (!text.empty()) text += '\n';
    text += problem.line();
  }
  if (dropped_ > 0) text += "\n... and " + std::to_string(dropped_) + " more problems";
  return invalid_argument(std::move(text));
}

std::string quote(std::string_view text) {
  return utf8::printable(text);
}

std::string join(const std::string& key, std::string_view name) {
  const std::string quoted = quote(name);
  const std::string step = quoted.substr(1, quoted.size() - 2);
  return key.empty() ? step : key + "." + step;
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

std::string suggestion(std::string_view unknown, const std::vector<std::string_view>& allowed) {
  if (allowed.empty()) return " (there is none)";
  std::string text = " (";
  if (const std::string_view near = nearest(unknown, allowed); !near.empty()) {
    text += "did you mean '" + std::string(near) + "'? ";
  }
  return text + "allowed: " + joined(allowed) + ")";
}

}  // namespace colibri::config
