// SPDX-License-Identifier: Apache-2.0
// Several sequences in one forward pass: each has the logits, byte by byte, that it has alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/engine/batch.h"
#include "runtime/engine/context.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

using engine::Chunk;
using engine::LogitsOf;
using testing::HasSubstr;

constexpr int64_t kTokens = 40;  // of a sequence at most: past two blocks of keys and the windows

struct Sequence {
  std::vector<int32_t> ids;
  std::vector<float> alone;  // [ids, vocabulary]: logits computed alone
  std::unique_ptr<engine::Context> context;
};

class BatchTest : public testing::Test {
 protected:
  ~BatchTest() override { fault_injection::set_read_fault({}); }

  void load(const std::string& model, std::vector<std::string> settings, bool least_budget) {
    const std::string path = "tests/golden/models/" + model;
    if (least_budget) {
      const auto plan = make_plan(path, settings);
      ASSERT_TRUE(plan.ok()) << plan.status().text();
      const uint64_t slot = (*plan)->memory.slot;
      if (slot > 0) settings.push_back("experts.budget=" + std::to_string(2 * slot));
    }
    auto loaded = load_model(path, settings);
    ASSERT_TRUE(loaded.ok()) << loaded.status().text();
    model_ = std::move(*loaded);
    batch_ = std::move(*model_->create_batch());
  }

  size_t vocabulary() const { return static_cast<size_t>(model_->spec().vocabulary); }

  std::unique_ptr<engine::Context> context(int64_t tokens = kTokens) {
    auto made = model_->create_context(tokens, batch_);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::move(*made);
  }

  // Sequences of different lengths, their logits computed one sequence after another.
  std::vector<Sequence> sequences(size_t count, std::mt19937& random) {
    std::vector<Sequence> made(count);
    for (Sequence& sequence : made) {
      sequence.ids.resize(kTokens / 2 + random() % (kTokens / 2));
      for (int32_t& id : sequence.ids) id = static_cast<int32_t>(random() % vocabulary());
      sequence.alone.resize(sequence.ids.size() * vocabulary());
      sequence.context = context();
      const Status status =
          sequence.context->forward(sequence.ids, LogitsOf::kAll, sequence.alone.data());
      EXPECT_TRUE(status.ok()) << status.text();
      sequence.context->reset();
    }
    return made;
  }

  // Computes all sequences in calls of random chunks of some of them: single tokens as in decoding
  // and pieces of prompts side by side.
  void compute_mixed(std::vector<Sequence>& all, std::mt19937& random) {
    for (bool done = false; !done;) {
      std::vector<Chunk> chunks;
      size_t rows = 0;
      done = true;
      for (Sequence& sequence : all) {
        const auto at = static_cast<size_t>(sequence.context->tokens());
        const size_t left = sequence.ids.size() - at;
        done = done && left == 0;
        if (left == 0 || random() % 4 == 0) continue;
        const size_t most = random() % 2 == 0 ? 1 : 12;
        const size_t n = std::min(left, 1 + random() % most);
        constexpr LogitsOf kWhich[] = {LogitsOf::kNone, LogitsOf::kLast, LogitsOf::kAll};
        const LogitsOf which = kWhich[random() % 3];
        chunks.push_back({sequence.context.get(), {sequence.ids.data() + at, n}, which});
        rows += static_cast<size_t>(chunks.back().logits_rows());
      }
      if (chunks.empty()) continue;
      std::shuffle(chunks.begin(), chunks.end(), random);
      std::vector<float> logits(rows * vocabulary());
      const Status status = batch_->forward(chunks, logits.data());
      ASSERT_TRUE(status.ok()) << status.text();
      compare(all, chunks, logits);
    }
  }

  void compare(const std::vector<Sequence>& all, const std::vector<Chunk>& chunks,
               const std::vector<float>& logits) {
    auto got = logits.begin();
    for (const Chunk& chunk : chunks) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const Sequence& sequence) {
        return sequence.context.get() == chunk.context;
      });
      const auto rows = static_cast<size_t>(chunk.logits_rows());
      const auto end = static_cast<size_t>(chunk.context->tokens());
      const auto n = static_cast<std::ptrdiff_t>(rows * vocabulary());
      const auto want =
          found->alone.begin() + static_cast<std::ptrdiff_t>((end - rows) * vocabulary());
      ASSERT_TRUE(std::equal(want, want + n, got))
          << chunks.size() << " chunks; sequence " << found - all.begin() << " up to token " << end;
      got += n;
    }
  }

  std::unique_ptr<engine::Model> model_;
  std::shared_ptr<engine::Batch> batch_;
};

// Windows, latent attention, shared experts, sinks, dense layers, grouped choices of experts.
TEST_F(BatchTest, EverySequenceHasTheBytesThatItHasAlone) {
  std::mt19937 random(1);
  size_t mixes = 0;
  for (const char* model : {"qwen3_window_f32", "deepseek_v3_bf16", "deepseek_v2_groups_f32",
                            "gpt_oss_yarn_f32", "qwen2_moe_bf16", "llama_bf16"}) {
    for (const char* kv : {"f16", "f32", "q8_0"}) {
      for (const bool least_budget : {false, true}) {
        SCOPED_TRACE(std::string(model) + ", " + kv + (least_budget ? ", two experts" : ""));
        ++mixes;
        const std::vector<std::string> settings = {
            std::string("context.kv=") + kv, "threads.count=" + std::to_string(1 + mixes % 2),
            "context.prefill_chunk=" + std::to_string(mixes % 3 == 0 ? 7 : 64)};
        load(model, settings, least_budget);
        if (HasFatalFailure()) return;
        std::vector<Sequence> all = sequences(2 + mixes % 4, random);
        for (int i = 0; i < 2; ++i) {
          for (Sequence& sequence : all) sequence.context->reset();
          compute_mixed(all, random);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(BatchTest, WeightsWithIntegerProductsToo) {
  std::mt19937 random(2);
  load("deepseek_v3_bf16", {"model.quantize=q8_0", "context.kv=q8_0"}, true);
  std::vector<Sequence> all = sequences(5, random);
  compute_mixed(all, random);
}

TEST_F(BatchTest, RefusesWhatIsNoBatch) {
  load("qwen3_window_f32", {}, false);
  const auto one = context(4), other = context(4);
  const std::vector<int32_t> ids = {1, 2, 3};
  std::vector<float> logits(3 * vocabulary());
  const auto refusal = [&](const std::vector<Chunk>& chunks) {
    const Status status = batch_->forward(chunks, logits.data());
    EXPECT_EQ(status.code(), COLIBRI_INVALID_ARGUMENT);
    EXPECT_EQ(one->tokens(), 0);
    return status.text();
  };
  EXPECT_THAT(refusal({}), HasSubstr("a batch without a chunk"));
  EXPECT_THAT(refusal({{one.get(), ids}, {other.get(), {}}}), HasSubstr("chunk 1: no tokens"));
  EXPECT_THAT(refusal({{one.get(), ids}, {other.get(), ids}, {one.get(), ids}}),
              HasSubstr("chunk 2: the same context as in chunk 0"));
  const std::vector<int32_t> many = {1, 2, 3, 4, 5}, unknown = {1, -1};
  EXPECT_THAT(refusal({{one.get(), ids}, {other.get(), many}}),
              HasSubstr("chunk 1: the context is full: it holds 0 of 4 tokens"));
  EXPECT_THAT(refusal({{one.get(), unknown}, {other.get(), ids}}),
              HasSubstr("chunk 0: id -1 at index 1"));
  const auto model = std::move(*load_model("tests/golden/models/qwen3_window_f32", {}));
  const auto foreign = std::move(*model->create_context(4));
  EXPECT_THAT(refusal({{one.get(), ids}, {foreign.get(), ids}}),
              HasSubstr("chunk 1: the context is of another model"));
}

TEST_F(BatchTest, AFailureLeavesAllSequencesAsTheyWere) {
  std::mt19937 random(3);
  load("qwen2_moe_bf16", {"context.prefill_chunk=8"}, true);
  std::vector<Sequence> all = sequences(3, random);
  std::vector<float> logits(all.size() * vocabulary());
  std::vector<Chunk> chunks;
  for (Sequence& sequence : all)
    chunks.push_back({sequence.context.get(), {sequence.ids.data(), 6}});
  fault_injection::set_read_fault(
      [](const std::filesystem::path&, uint64_t, uint64_t) { return -EIO; });
  EXPECT_EQ(batch_->forward(chunks, logits.data()).code(), COLIBRI_IO);
  fault_injection::set_read_fault({});
  for (const Sequence& sequence : all) EXPECT_EQ(sequence.context->tokens(), 0);
  compute_mixed(all, random);
}

}  // namespace
}  // namespace colibri::test
