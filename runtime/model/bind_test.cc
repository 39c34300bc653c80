// SPDX-License-Identifier: Apache-2.0
// What a sound model is bound to. What is refused, and in which words: tests/bad_models.
#include "runtime/model/bind.h"
#include "runtime/base/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "runtime/model/fake_format.h"
#include "runtime/model/unknown_keys.h"

namespace colibri::model {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMixtral = "configs/architectures/mixtral.yaml";

class BindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::FILE* file = std::fopen((folder_ / "w").c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fclose(file);
    fs::resize_file(folder_ / "w", 1 << 20);
    format_.values = {{"model_type", std::string("mixtral")},
                      {"hidden_act", std::string("silu")},
                      {"num_hidden_layers", int64_t{2}},
                      {"hidden_size", int64_t{8}},
                      {"vocab_size", int64_t{16}},
                      {"max_position_embeddings", int64_t{64}},
                      {"num_attention_heads", int64_t{2}},
                      {"num_local_experts", int64_t{3}},
                      {"num_experts_per_tok", int64_t{2}},
                      {"intermediate_size", int64_t{12}},
                      {"rms_norm_eps", 1e-5}};
  }

  // The tensors of the model, with so many rows of k and v.
  void add_tensors(int64_t kv_rows, bool head) {
    format_.add("model.embed_tokens.weight", {16, 8});
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
      format_.add(layer + "input_layernorm.weight", {8});
      format_.add(layer + "self_attn.q_proj.weight", {8, 8});
      format_.add(layer + "self_attn.k_proj.weight", {kv_rows, 8});
      format_.add(layer + "self_attn.v_proj.weight", {kv_rows, 8});
      format_.add(layer + "self_attn.o_proj.weight", {8, 8});
      format_.add(layer + "post_attention_layernorm.weight", {8});
      format_.add(layer + "block_sparse_moe.gate.weight", {3, 8});
      for (const std::string expert : {"0", "1", "2"}) {
        const std::string prefix = layer + "block_sparse_moe.experts." + expert;
        format_.add(prefix + ".w1.weight", {12, 8});
        format_.add(prefix + ".w2.weight", {8, 12});
        format_.add(prefix + ".w3.weight", {12, 8});
      }
    }
    format_.add("model.norm.weight", {8});
    if (head) format_.add("lm_head.weight", {16, 8});
  }

  Result<ModelSpec> bound() {
    COLIBRI_ASSIGN(std::unique_ptr<ModelFiles> files, ModelFiles::open(folder_));
    COLIBRI_ASSIGN(source_, ModelSource::open(std::move(files), format_.table()));
    COLIBRI_ASSIGN(known_, known_architectures(kMixtral));
    COLIBRI_ASSIGN(const config::Architecture* architecture, match(*source_, known_, "auto"));
    return bind(*source_, *architecture);
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  FakeFormat format_;
  std::unique_ptr<ModelSource> source_;
  std::vector<config::Architecture> known_;
};

TEST_F(BindTest, FillsTheSpec) {
  format_.values["num_key_value_heads"] = int64_t{1};
  format_.values["rope_theta"] = 10000.0;
  format_.values["sliding_window"] = int64_t{5};
  add_tensors(4, true);
  const Result<ModelSpec> spec = bound();
  ASSERT_TRUE(spec.ok()) << spec.status().text();
  EXPECT_EQ(spec->architecture, "mixtral");
  EXPECT_EQ(spec->hidden, 8);
  EXPECT_EQ(spec->vocabulary, 16);
  EXPECT_EQ(spec->max_tokens, 64);
  EXPECT_EQ(spec->heads, 2);
  EXPECT_EQ(spec->kv_heads, 1);
  EXPECT_EQ(spec->head_dim, 4);  // hidden_size / num_attention_heads
  EXPECT_EQ(spec->experts, 3);
  EXPECT_EQ(spec->top_k, 2);
  EXPECT_EQ(spec->expert_inner, 12);
  EXPECT_EQ(spec->eps, 1e-5f);
  EXPECT_EQ(spec->embedding_scale, 1.0f);
  EXPECT_EQ(spec->attention_scale, 0.5f);
  EXPECT_TRUE(spec->router.renormalize);
  EXPECT_EQ(spec->rope.style, static_cast<uint32_t>(COLIBRI_ROPE_HALF));
  EXPECT_EQ(spec->rope.dims, 4);
  EXPECT_EQ(spec->rope.theta, 10000.0);
  EXPECT_FALSE(spec->tied);
  ASSERT_EQ(spec->layers.size(), 2u);
  EXPECT_EQ(spec->layers[1].window, 5);
  EXPECT_EQ(spec->layers[1].k.rows, 4);
  EXPECT_EQ(spec->layers[1].k.cols, 8);
  EXPECT_EQ(spec->layers[1].ffn_norm.rows, 1);
  ASSERT_EQ(spec->layers[1].experts.size(), 3u);
  EXPECT_EQ(spec->layers[1].experts[2].up.name(),
            "model.layers.1.block_sparse_moe.experts.2.w3.weight");
  EXPECT_EQ(spec->layers[1].experts[2].down.role, Role::kDown);
  EXPECT_EQ(spec->head.name(), "lm_head.weight");
  EXPECT_EQ(spec->head.role, Role::kHead);
}

TEST_F(BindTest, CountsParameters) {
  add_tensors(8, true);
  const Result<ModelSpec> spec = bound();
  ASSERT_TRUE(spec.ok()) << spec.status().text();
  int64_t all = 0;
  for (const FakeFormat::Tensor& tensor : format_.tensors) {
    all += static_cast<int64_t>(tensor.bytes / 4);
  }
  EXPECT_EQ(spec->parameters(), all);
  EXPECT_EQ(spec->active_parameters(), all - 2 * 3 * 8 * 12);  // one of three experts, two layers
}

TEST_F(BindTest, DefaultsOfTheDocument) {
  add_tensors(8, true);
  const Result<ModelSpec> spec = bound();
  ASSERT_TRUE(spec.ok()) << spec.status().text();
  EXPECT_EQ(spec->kv_heads, 2);  // as many as heads
  EXPECT_EQ(spec->rope.theta, 1e6);
  EXPECT_EQ(spec->layers[0].window, 0);
  EXPECT_THAT(spec->eos, IsEmpty());
  EXPECT_EQ(spec->bos, -1);
}

TEST_F(BindTest, ATiedHeadIsTheEmbedding) {
  format_.values["tie_word_embeddings"] = true;
  add_tensors(8, false);
  const Result<ModelSpec> spec = bound();
  ASSERT_TRUE(spec.ok()) << spec.status().text();
  EXPECT_TRUE(spec->tied);
  EXPECT_EQ(spec->head.tensor, spec->embedding.tensor);
  EXPECT_EQ(spec->head.role, Role::kHead);
  EXPECT_EQ(spec->embedding.role, Role::kEmbedding);
}

TEST_F(BindTest, AStoredHeadIsUsedEvenIfItMayBeTied) {
  format_.values["tie_word_embeddings"] = true;
  add_tensors(8, true);
  const Result<ModelSpec> spec = bound();
  ASSERT_TRUE(spec.ok()) << spec.status().text();
  EXPECT_FALSE(spec->tied);
  EXPECT_EQ(spec->head.name(), "lm_head.weight");
}

TEST_F(BindTest, EveryEosIdCounts) {
  format_.values["eos_token_id"] = int64_t{7};
  format_.lists["generation_config.eos_token_id"] = {int64_t{9}, int64_t{2}, int64_t{7}};
  format_.values["bos_token_id"] = std::monostate();
  format_.values["generation_config.bos_token_id"] = int64_t{1};
  add_tensors(8, true);
  const Result<ModelSpec> spec = bound();
  ASSERT_TRUE(spec.ok()) << spec.status().text();
  EXPECT_THAT(spec->eos, ElementsAre(2, 7, 9));
  EXPECT_EQ(spec->bos, 1);
}

TEST_F(BindTest, IgnoredTensorsMayStay) {
  add_tensors(8, true);
  format_.add("model.layers.0.self_attn.rotary_emb.inv_freq", {2});
  EXPECT_TRUE(bound().ok()) << bound().status().text();
}

TEST_F(BindTest, NullCountsAsAbsentWhereADefaultIs) {
  format_.values["num_key_value_heads"] = std::monostate();
  format_.values["rope_scaling"] = std::monostate();
  add_tensors(8, true);
  EXPECT_TRUE(bound().ok()) << bound().status().text();
}

TEST_F(BindTest, KeysThatNothingReads) {
  add_tensors(8, true);
  format_.values["torch_dtype"] = std::string("bfloat16");
  format_.values["quantization_config.bits"] = int64_t{4};  // known, although not covered
  format_.values["tokenizer_config.legacy"] = false;
  ASSERT_FALSE(bound().ok());
  EXPECT_THAT(unknown_keys(*source_, known_[0]), ElementsAre("torch_dtype"));
}

TEST_F(BindTest, ArchitecturesByName) {
  add_tensors(8, true);
  ASSERT_TRUE(bound().ok());
  EXPECT_TRUE(match(*source_, known_, "mixtral").ok());
  EXPECT_EQ(match(*source_, known_, "mixtrall").status().text(),
            "there is no architecture 'mixtrall' for 'hf' checkpoints; known are: mixtral");
  known_.push_back(known_[0]);
  known_.back().name = "twin";
  EXPECT_THAT(match(*source_, known_, "auto").status().text(),
              HasSubstr("the architectures mixtral and twin both match; choose one by name"));
}

}  // namespace
}  // namespace colibri::model
