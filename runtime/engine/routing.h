// SPDX-License-Identifier: Apache-2.0
// Tokens grouped by expert: from the router's choice to the product rows of grouped matmuls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace colibri::engine {

// A (token, slot) pair asks for one expert. Experts may come in any order, in several waves; each
// wave appends its product rows behind those of the waves before. Allocates nothing after the
// constructor.
class Routing {
 public:
  Routing(int64_t max_tokens, int64_t top_k, int64_t experts);

  // Starts with the router's choice, [tokens, top_k].
  void begin(const int32_t* chosen, int64_t tokens);
  // The experts that are asked for, ascending.
  std::span<const int32_t> distinct() const { return {distinct_.data(), distinct_.size()}; }

  // A wave: clear, then the experts it has.
  void begin_wave();
  void add(int32_t expert);
  int64_t groups() const { return static_cast<int64_t>(group_begin_.size()) - 1; }
  const int64_t* group_begin() const { return group_begin_.data(); }  // [groups + 1]

  int64_t rows() const { return rows_; }  // product rows of all waves so far

  const int32_t* token_of_row() const { return token_of_row_.data(); }  // [product rows]
  const int32_t* row_of_pair() const { return row_of_pair_.data(); }    // [tokens, top_k]

 private:
  int64_t top_k_;
  std::vector<int32_t> first_pair_;  // [experts + 1] into pairs_
  std::vector<int32_t> pairs_;       // token * top_k + slot, by expert, tokens ascending
  std::vector<int32_t> distinct_;
  std::vector<int64_t> group_begin_;
  std::vector<int32_t> token_of_row_, row_of_pair_;
  int64_t rows_ = 0;
};

}  // namespace colibri::engine
