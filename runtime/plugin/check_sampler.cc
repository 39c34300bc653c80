// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <set>
#include <thread>

#include "colibri/sampler.h"
#include "runtime/plugin/check_parts.h"

namespace colibri::plugin {
namespace {

constexpr uint32_t kVocabulary = 1000;

// A candidate list in memory of its own, so that sanitizers and borders see what is written beside
// it.
struct List {
  std::vector<int32_t> id;
  std::vector<float> logit;
  int32_t sorted = 0;

  size_t size() const { return id.size(); }
  bool operator==(const List& other) const {
    return id == other.id && sorted == other.sorted && logit.size() == other.logit.size() &&
           std::memcmp(logit.data(), other.logit.data(), logit.size() * sizeof(float)) == 0;
  }
};

// The lists every link must cope with: short ones, ties, extremes, and whole vocabularies.
std::vector<List> lists() {
  std::vector<List> all;
  const auto add = [&](size_t n, auto value_of) {
    List list;
    for (size_t i = 0; i < n; ++i) {
      list.id.push_back(static_cast<int32_t>(i));
      list.logit.push_back(value_of(i));
    }
    all.push_back(list);
  };
  for (const size_t n : {size_t{1}, size_t{2}, size_t{3}, size_t{40}, size_t{kVocabulary}}) {
    add(n, [](size_t) { return 0.0f; });
    add(n, [](size_t i) { return static_cast<float>(i * 37 % 101) / 8 - 6; });
    add(n, [](size_t i) { return i % 2 == 0 ? FLT_MAX : -FLT_MAX; });
    add(n, [](size_t i) { return i % 3 == 0 ? -0.0f : FLT_TRUE_MIN; });
  }
  return all;
}

class Link {
 public:
  Link(const Plugin& plugin, uint32_t vocabulary)
      : table_(*plugin.interface<colibri_sampler_1>("colibri.sampler/1")),
        host_(plugin.id(), sample_options(plugin.manifest())),
        state_(table_.state_bytes(host_.get(), vocabulary)),
        vocabulary_(vocabulary) {}

  Status create() {
    colibri_error error = empty_error();
    const colibri_status code = table_.create(host_.get(), vocabulary_, state_.get(), &error);
    COLIBRI_TRY(expect_reason("create", code, error));
    return from_c(code, error, "create");
  }
  void accept(int32_t token) {
    if (table_.accept != nullptr) table_.accept(state_.get(), token);
  }
  void reset() {
    if (table_.reset != nullptr) table_.reset(state_.get());
  }
  // Applies the link and checks what it did to the list.
  Status apply(List& list) {
    List before = list;
    colibri_candidates candidates = {};
    candidates.struct_size = sizeof(candidates);
    candidates.sorted = list.sorted;
    candidates.id = list.id.data();
    candidates.logit = list.logit.data();
    candidates.n = list.size();
    const colibri_status code = table_.apply(state_.get(), &candidates);
    if (code != COLIBRI_OK) return internal_error("apply fails with " + std::to_string(code));
    if (!state_.intact()) return internal_error("writes behind its state");
    if (candidates.n == 0 && !before.id.empty())
      return internal_error("apply drops every candidate");
    if (candidates.n > before.size()) return internal_error("apply makes the list longer");
    if (candidates.id != list.id.data() || candidates.logit != list.logit.data()) {
      return internal_error("apply exchanges the arrays of the list");
    }
    list.id.resize(candidates.n);
    list.logit.resize(candidates.n);
    list.sorted = candidates.sorted;
    return check(list, before);
  }

 private:
  static Status check(const List& list, const List& before) {
    const std::set<int32_t> known(before.id.begin(), before.id.end());
    std::set<int32_t> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      if (!known.contains(list.id[i]))
        return internal_error("apply leaves an id that was not there");
      if (!seen.insert(list.id[i]).second) return internal_error("apply leaves an id twice");
      if (std::isnan(list.logit[i])) return internal_error("apply leaves a NaN logit");
      if (i == 0) continue;
      const bool by_id = list.id[i - 1] < list.id[i];
      const bool by_logit =
          list.logit[i - 1] > list.logit[i] || (list.logit[i - 1] == list.logit[i] && by_id);
      if (list.sorted != 0 && !by_logit) return internal_error("says sorted, and the list is not");
      if (list.sorted == 0 && !by_id) {
        return internal_error("says not sorted, and the ids do not ascend");
      }
    }
    return {};
  }

  const colibri_sampler_1& table_;
  Host host_;
  GuardedMemory state_;
  uint32_t vocabulary_;
};

// What a link makes of all lists, after it saw some tokens.
Result<std::vector<List>> edited(const Plugin& plugin) {
  Link link(plugin, kVocabulary);
  COLIBRI_TRY(link.create());
  std::vector<List> all = lists();
  for (int32_t token = 0; token < 50; ++token) link.accept(token * 7 % 20);
  for (List& list : all) COLIBRI_TRY(link.apply(list));
  return all;
}

}  // namespace

Status check_sampler_bad_input(const Plugin& plugin) {
  COLIBRI_ASSIGN(const std::vector<List> first, edited(plugin));
  COLIBRI_ASSIGN(const std::vector<List> second, edited(plugin));
  if (first != second) return internal_error("the same calls give different lists");

  Link link(plugin, 1);  // the smallest vocabulary
  COLIBRI_TRY(link.create());
  List empty;
  COLIBRI_TRY(link.apply(empty));
  link.accept(0);
  link.reset();
  List one = {{0}, {1.5f}, 1};
  return link.apply(one);
}

Status check_sampler_workers(const Plugin& plugin) {
  constexpr size_t kThreads = 8;
  COLIBRI_ASSIGN(const std::vector<List> alone, edited(plugin));
  std::vector<Status> status(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const Result<std::vector<List>> together = edited(plugin);
      status[i] = together.status();
      if (together.ok() && *together != alone) {
        status[i] = internal_error("several threads give another result than one");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& each : status) COLIBRI_TRY(each);
  return {};
}

}  // namespace colibri::plugin
