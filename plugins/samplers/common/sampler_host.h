// SPDX-License-Identifier: Apache-2.0
// For tests: a host with options, the host's own mathematics, and one sampler plugin.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "colibri/sampler.h"
#include "runtime/base/portable_math.h"
#include "runtime/base/status.h"

namespace colibri::samplers {

struct Candidate {
  int32_t id;
  float logit;
  bool operator==(const Candidate&) const = default;
};
inline void PrintTo(const Candidate& c, std::ostream* out) {
  *out << c.id << ':' << c.logit;
}

// The sampler of the plugin that the test is linked with.
class SamplerUnderTest {
 public:
  SamplerUnderTest(uint32_t vocabulary, std::map<std::string, double> floats,
                   std::map<std::string, int64_t> ints = {})
      : floats_(std::move(floats)), ints_(std::move(ints)) {
    math_ = portable_math_table();
    host_.struct_size = sizeof(host_);
    host_.context = this;
    host_.math = &math_;
    host_.option = option;
    table_ = static_cast<const colibri_sampler_1*>(
        colibri_plugin_v1()->get_interface("colibri.sampler/1"));
    state_.resize(table_->state_bytes(&host_, vocabulary) / sizeof(Line) + 1);
    error_ = empty_error();
    status_ = table_->create(&host_, vocabulary, state_.data(), &error_);
  }

  colibri_status status() const { return status_; }
  std::string error() const { return error_.text; }

  void accept(int32_t token) { table_->accept(state_.data(), token); }
  void reset() { table_->reset(state_.data()); }

  std::vector<Candidate> apply(std::vector<Candidate> list, bool sorted = false) {
    std::vector<int32_t> ids;
    std::vector<float> logits;
    for (const Candidate& c : list) {
      ids.push_back(c.id);
      logits.push_back(c.logit);
    }
    colibri_candidates candidates = {sizeof(candidates), sorted, ids.data(), logits.data(),
                                     list.size()};
    EXPECT_EQ(table_->apply(state_.data(), &candidates), COLIBRI_OK);
    EXPECT_LE(candidates.n, list.size());
    list.clear();
    for (size_t i = 0; i < candidates.n; ++i) {
      list.push_back({candidates.id[i], candidates.logit[i]});
    }
    sorted_ = candidates.sorted != 0;
    expect_order(list);
    return list;
  }
  // Whether the last list was marked as sorted.
  bool sorted() const { return sorted_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  static colibri_status option(const colibri_host* host, colibri_str name, colibri_value* value) {
    const auto* self = static_cast<const SamplerUnderTest*>(host->context);
    const std::string key(from_c(name));
    if (const auto f = self->floats_.find(key); f != self->floats_.end()) {
      value->kind = COLIBRI_VALUE_FLOAT;
      value->f = f->second;
      return COLIBRI_OK;
    }
    if (const auto i = self->ints_.find(key); i != self->ints_.end()) {
      value->kind = COLIBRI_VALUE_INT;
      value->i = i->second;
      return COLIBRI_OK;
    }
    return COLIBRI_NOT_FOUND;
  }

  // The promise of colibri_candidates.sorted.
  void expect_order(const std::vector<Candidate>& list) const {
    for (size_t i = 1; i < list.size(); ++i) {
      const Candidate& a = list[i - 1];
      const Candidate& b = list[i];
      if (sorted_) {
        EXPECT_TRUE(a.logit > b.logit || (a.logit == b.logit && a.id < b.id)) << "at " << i;
      } else {
        EXPECT_LT(a.id, b.id) << "at " << i;
      }
    }
  }

  std::map<std::string, double> floats_;
  std::map<std::string, int64_t> ints_;
  colibri_math math_;
  colibri_host host_ = {};
  const colibri_sampler_1* table_;
  std::vector<Line> state_;
  colibri_error error_ = {};
  colibri_status status_ = COLIBRI_OK;
  bool sorted_ = false;
};

// n candidates with ids 0.. in pseudo-random logits; few distinct ones, so that ties are common.
inline std::vector<Candidate> random_candidates(size_t n, uint64_t seed) {
  std::vector<Candidate> list;
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    list.push_back({static_cast<int32_t>(i), static_cast<float>((seed >> 33) % 64) / 8.0f - 4.0f});
  }
  return list;
}

inline std::vector<Candidate> sorted_candidates(std::vector<Candidate> list) {
  std::sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  return list;
}

}  // namespace colibri::samplers
