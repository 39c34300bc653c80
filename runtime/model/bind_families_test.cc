// SPDX-License-Identifier: Apache-2.0
// What the documents of configs/architectures make of metadata and tensors beyond the plain case:
// layers of several kinds, tensors that hold more than one weight, alternatives, conditions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "runtime/base/temporary_folder.h"
#include "runtime/model/bind.h"
#include "runtime/model/fake_format.h"

namespace colibri::model {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FamiliesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream file(folder_ / "w", std::ios::binary);
    for (int i = 0; i < 1 << 16; ++i) file.write("\0\0\0\x40", 4);  // twos
  }

  Result<ModelSpec> bound() {
    COLIBRI_ASSIGN(std::unique_ptr<ModelFiles> files, ModelFiles::open(folder_));
    COLIBRI_ASSIGN(source_, ModelSource::open(std::move(files), format_.table()));
    COLIBRI_ASSIGN(known_, config::load_architectures("configs/architectures"));
    COLIBRI_ASSIGN(const config::Architecture* architecture, match(*source_, known_, "auto"));
    return bind(*source_, *architecture);
  }

  ModelSpec sound() {
    Result<ModelSpec> spec = bound();
    EXPECT_TRUE(spec.ok()) << spec.status().text();
    return spec.ok() ? std::move(*spec) : ModelSpec();
  }

  std::string refusal() { return bound().status().text(); }

  void set(const std::string& key, FakeFormat::Scalar value) { format_.values[key] = value; }

  // The parts of every Hugging Face checkpoint: vocabulary 16, hidden 8, 4 heads of 4, 2 of keys.
  void hf(const std::string& type, int64_t layers) {
    set("model_type", type);
    set("num_hidden_layers", layers);
    set("hidden_size", int64_t{8});
    set("vocab_size", int64_t{16});
    set("max_position_embeddings", int64_t{64});
    set("num_attention_heads", int64_t{4});
    set("num_key_value_heads", int64_t{2});
    set("head_dim", int64_t{4});
    set("rms_norm_eps", 1e-5);
    format_.add("model.embed_tokens.weight", {16, 8});
    format_.add("lm_head.weight", {16, 8});
    format_.add("model.norm.weight", {8});
    for (int64_t l = 0; l < layers; ++l) {
      format_.add(at(l) + "input_layernorm.weight", {8});
      format_.add(at(l) + "post_attention_layernorm.weight", {8});
    }
  }

  static std::string at(int64_t l) { return "model.layers." + std::to_string(l) + "."; }

  void gqa(int64_t l, int64_t head_dim = 4) {
    format_.add(at(l) + "self_attn.q_proj.weight", {4 * head_dim, 8});
    format_.add(at(l) + "self_attn.k_proj.weight", {2 * head_dim, 8});
    format_.add(at(l) + "self_attn.v_proj.weight", {2 * head_dim, 8});
    format_.add(at(l) + "self_attn.o_proj.weight", {8, 4 * head_dim});
  }

  void ffn(const std::string& prefix, int64_t inner) {
    format_.add(prefix + "gate_proj.weight", {inner, 8});
    format_.add(prefix + "up_proj.weight", {inner, 8});
    format_.add(prefix + "down_proj.weight", {8, inner});
  }

  // A Qwen3 of so many layers.
  void qwen3(int64_t layers) {
    hf("qwen3", layers);
    set("intermediate_size", int64_t{6});
    for (int64_t l = 0; l < layers; ++l) {
      gqa(l);
      format_.add(at(l) + "self_attn.q_norm.weight", {4});
      format_.add(at(l) + "self_attn.k_norm.weight", {4});
      ffn(at(l) + "mlp.", 6);
    }
  }

  // A GGUF file of the architecture llama, with experts or without.
  void gguf_llama(bool experts) {
    format_.vocabulary = "gguf";
    set("general.architecture", std::string("llama"));
    set("llama.block_count", int64_t{1});
    set("llama.embedding_length", int64_t{8});
    set("llama.context_length", int64_t{64});
    set("llama.attention.head_count", int64_t{4});
    set("llama.attention.head_count_kv", int64_t{2});
    set("llama.attention.key_length", int64_t{4});
    set("llama.rope.dimension_count", int64_t{4});
    set("llama.feed_forward_length", int64_t{6});
    set("llama.attention.layer_norm_rms_epsilon", 1e-5);
    format_.lists["tokenizer.ggml.tokens"].resize(16);
    format_.add("token_embd.weight", {16, 8});
    format_.add("output_norm.weight", {8});
    format_.add("blk.0.attn_norm.weight", {8});
    format_.add("blk.0.attn_q.weight", {16, 8});
    format_.add("blk.0.attn_k.weight", {8, 8});
    format_.add("blk.0.attn_v.weight", {8, 8});
    format_.add("blk.0.attn_output.weight", {8, 16});
    format_.add("blk.0.ffn_norm.weight", {8});
    if (!experts) {
      format_.add("blk.0.ffn_gate.weight", {6, 8});
      format_.add("blk.0.ffn_up.weight", {6, 8});
      format_.add("blk.0.ffn_down.weight", {8, 6});
      return;
    }
    set("llama.expert_count", int64_t{3});
    set("llama.expert_used_count", int64_t{2});
    format_.add("blk.0.ffn_gate_inp.weight", {3, 8});
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  FakeFormat format_;
  std::unique_ptr<ModelSource> source_;
  std::vector<config::Architecture> known_;
};

TEST_F(FamiliesTest, GgufLlamaIsDenseOrMixtral) {
  gguf_llama(false);
  const ModelSpec dense = sound();
  EXPECT_EQ(dense.architecture, "llama");
  EXPECT_EQ(dense.vocabulary, 16);  // as many as there are tokens
  EXPECT_TRUE(dense.tied);
  EXPECT_FALSE(dense.layers[0].routed());
  EXPECT_EQ(dense.rope.style, static_cast<uint32_t>(COLIBRI_ROPE_INTERLEAVED));

  format_ = FakeFormat();
  gguf_llama(true);
  format_.add("blk.0.ffn_gate_exps.weight", {3, 6, 8});
  format_.add("blk.0.ffn_up_exps.weight", {3, 6, 8});
  format_.add("blk.0.ffn_down_exps.weight", {3, 8, 6});
  const ModelSpec stacked = sound();
  EXPECT_EQ(stacked.architecture, "mixtral");
  ASSERT_EQ(stacked.layers[0].experts.size(), 3u);
  EXPECT_EQ(stacked.layers[0].experts[2].down.name(), "blk.0.ffn_down_exps.weight");
  EXPECT_EQ(stacked.layers[0].experts[2].down.map.first, 16);
}

TEST_F(FamiliesTest, OlderMixtralFilesHoldEachExpertApart) {
  gguf_llama(true);
  for (const std::string e : {"0", "1", "2"}) {
    format_.add("blk.0.ffn_gate." + e + ".weight", {6, 8});
    format_.add("blk.0.ffn_up." + e + ".weight", {6, 8});
    format_.add("blk.0.ffn_down." + e + ".weight", {8, 6});
  }
  EXPECT_EQ(sound().layers[0].experts[2].down.name(), "blk.0.ffn_down.2.weight");
}

TEST_F(FamiliesTest, AStackOfAnotherNumberOfExpertsIsRefused) {
  gguf_llama(true);
  format_.add("blk.0.ffn_gate_exps.weight", {4, 6, 8});
  format_.add("blk.0.ffn_up_exps.weight", {3, 6, 8});
  format_.add("blk.0.ffn_down_exps.weight", {3, 8, 6});
  EXPECT_THAT(refusal(), HasSubstr("has the shape [4, 6, 8] for experts = 3"));
}

TEST_F(FamiliesTest, RopeFactorsDivideTheFrequencies) {
  gguf_llama(false);
  const float before = sound().rope.frequencies[1];
  format_.add("rope_freqs.weight", {2});  // twos
  EXPECT_EQ(sound().rope.frequencies[1], before / 2);
  std::fstream file(folder_ / "w", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(format_.tensors.back().offset + 4));
  file.write("\0\0\0\0", 4);
  file.close();
  EXPECT_THAT(refusal(), HasSubstr("element 1 is 0, and must be finite and greater than 0"));
}

TEST_F(FamiliesTest, WindowsFollowLayerTypesOrAFirstLayer) {
  qwen3(3);
  set("use_sliding_window", true);
  set("sliding_window", int64_t{5});
  set("max_window_layers", int64_t{2});
  const auto windows = [&] {
    std::vector<int64_t> all;
    for (const LayerSpec& layer : sound().layers) all.push_back(layer.window);
    return all;
  };
  EXPECT_EQ(windows(), (std::vector<int64_t>{0, 0, 5}));
  format_.lists["layer_types"] = {std::string("sliding_attention"), std::string("full_attention"),
                                  std::string("full_attention")};
  EXPECT_EQ(windows(), (std::vector<int64_t>{5, 0, 0}));
  format_.values["use_sliding_window"] = false;
  EXPECT_EQ(windows(), (std::vector<int64_t>{0, 0, 0}));
  format_.lists["layer_types"] = {std::string("chunked_attention")};
  EXPECT_THAT(refusal(), HasSubstr("config.json: layer_types is 'chunked_attention', which this "
                                   "architecture does not cover (covered: sliding_attention, "
                                   "full_attention)"));
  format_.lists["layer_types"] = {int64_t{3}};
  EXPECT_THAT(refusal(), HasSubstr("layer_types is '3'"));
  format_.lists["layer_types"] = {};
  EXPECT_THAT(refusal(), HasSubstr("is an empty list"));
}

TEST_F(FamiliesTest, AScalingThatNoDocumentKnowsIsNamed) {
  qwen3(1);
  set("rope_scaling.type", std::string("longrope"));
  EXPECT_THAT(refusal(), HasSubstr(": config.json: rope_scaling.type is 'longrope', which this "
                                   "architecture does not cover (covered: default, dynamic, "
                                   "linear, llama3, yarn)"));
  set("rope_scaling.type", std::string("linear"));
  set("rope_scaling.factor", 0.0);
  EXPECT_THAT(refusal(), HasSubstr("must be greater than 0"));
}

// Up to max_position_embeddings, transformers' dynamic scaling leaves theta as it is.
TEST_F(FamiliesTest, DynamicScalingChangesNothingInAContextThatCanBeMade) {
  qwen3(1);
  const std::vector<float> plain = sound().rope.frequencies;
  set("rope_scaling.factor", 4.0);
  set("rope_scaling.rope_type", std::string("linear"));
  EXPECT_NE(sound().rope.frequencies, plain);
  set("rope_scaling.rope_type", std::string("dynamic"));
  EXPECT_EQ(sound().rope.frequencies, plain);
}

// Numbers that would take time or memory before any tensor was looked at.
TEST_F(FamiliesTest, AbsurdNumbersAreRefusedAtOnce) {
  qwen3(1);
  set("head_dim", int64_t{1} << 30);
  EXPECT_THAT(refusal(), HasSubstr("must be from 1 to 65536"));
  set("head_dim", int64_t{4});
  format_.lists["layer_types"].resize(size_t{1} << 17, std::string("full_attention"));
  EXPECT_THAT(refusal(), HasSubstr("layer_types has 131072 elements, more than 65536"));
}

TEST_F(FamiliesTest, BiasesAreThereIfTheConfigurationSaysSo) {
  qwen3(1);
  set("attention_bias", true);
  EXPECT_THAT(refusal(), HasSubstr("there is no tensor 'model.layers.0.self_attn.q_proj.bias' of "
                                   "the shape [heads * head_dim] = [16]"));
  format_.add(at(0) + "self_attn.q_proj.bias", {16});
  format_.add(at(0) + "self_attn.k_proj.bias", {8});
  format_.add(at(0) + "self_attn.v_proj.bias", {8});
  format_.add(at(0) + "self_attn.o_proj.bias", {8});
  EXPECT_EQ(sound().layers[0].q_bias.cols, 16);
  set("attention_bias", false);
  EXPECT_THAT(refusal(), HasSubstr("4 tensors are not used by the architecture qwen3"));
}

// GLM-4.5: the layer behind the last one is of no use.
TEST_F(FamiliesTest, GlmHasDenseLayersFirstAndALayerToIgnore) {
  hf("glm4_moe", 2);
  set("intermediate_size", int64_t{6});
  set("moe_intermediate_size", int64_t{10});
  set("n_routed_experts", int64_t{4});
  set("n_shared_experts", int64_t{2});
  set("num_experts_per_tok", int64_t{2});
  set("first_k_dense_replace", int64_t{1});
  set("partial_rotary_factor", 0.5);
  set("n_group", int64_t{2});
  set("topk_group", int64_t{1});
  gqa(0);
  gqa(1);
  ffn(at(0) + "mlp.", 6);
  ffn(at(1) + "mlp.shared_experts.", 20);
  for (const std::string e : {"0", "1", "2", "3"}) ffn(at(1) + "mlp.experts." + e + ".", 10);
  format_.add(at(1) + "mlp.gate.weight", {4, 8});
  format_.add(at(1) + "mlp.gate.e_score_correction_bias", {4});
  format_.add(at(2) + "eh_proj.weight", {8, 16});
  const ModelSpec spec = sound();
  EXPECT_FALSE(spec.layers[0].routed());
  EXPECT_EQ(spec.layers[0].dense.inner, 6);
  EXPECT_EQ(spec.layers[1].shared.inner, 20);
  EXPECT_TRUE(spec.layers[1].select_bias);
  EXPECT_EQ(spec.qk_norm, QkNorm::kNone);
  EXPECT_EQ(spec.rope.dims, 2);
  EXPECT_EQ(spec.router.score, static_cast<uint32_t>(COLIBRI_SCORE_SIGMOID));
  EXPECT_EQ(spec.router.groups, 2);
  EXPECT_EQ(spec.router.group_mask, static_cast<uint32_t>(COLIBRI_GROUP_MASK_ZERO));
  set("n_group", int64_t{3});
  EXPECT_THAT(refusal(), HasSubstr("experts = 4 (config.json: n_routed_experts) is no multiple"));
  set("n_group", int64_t{4});
  EXPECT_THAT(refusal(), HasSubstr("leaves one expert in a group, and the rule wants two"));
}

// DeepSeek: one tensor has the projections of keys and of values of each head.
class DeepSeekTest : public FamiliesTest {
 protected:
  void SetUp() override {
    FamiliesTest::SetUp();
    hf("deepseek_v3", 1);
    set("intermediate_size", int64_t{6});
    set("moe_intermediate_size", int64_t{6});
    set("n_routed_experts", int64_t{16});
    set("n_shared_experts", int64_t{1});
    set("num_experts_per_tok", int64_t{2});
    set("first_k_dense_replace", int64_t{1});
    set("kv_lora_rank", int64_t{128});
    set("q_lora_rank", std::monostate());
    set("qk_nope_head_dim", int64_t{6});
    set("qk_rope_head_dim", int64_t{2});
    set("v_head_dim", int64_t{4});
    format_.add(at(0) + "self_attn.q_proj.weight", {32, 8});
    format_.add(at(0) + "self_attn.kv_a_proj_with_mqa.weight", {130, 8});
    format_.add(at(0) + "self_attn.kv_a_layernorm.weight", {128});
    format_.add(at(0) + "self_attn.o_proj.weight", {8, 16});
    ffn(at(0) + "mlp.", 6);
  }
};

TEST_F(DeepSeekTest, OneTensorForKeysAndValues) {
  format_.add(at(0) + "self_attn.kv_b_proj.weight", {40, 128});
  const ModelSpec spec = sound();
  EXPECT_EQ(spec.attention, AttentionKind::kMla);
  EXPECT_EQ(spec.head_dim, 8);
  EXPECT_EQ(spec.kv_heads, 1);
  EXPECT_EQ(spec.q_latent, 0);
  EXPECT_EQ(spec.eps, 1e-5f);
  EXPECT_EQ(spec.latent_eps, 1e-6f);
  const LayerSpec& layer = spec.layers[0];
  EXPECT_FALSE(layer.q_down);
  EXPECT_EQ(layer.k_absorb.rows, 4 * 128);
  EXPECT_EQ(layer.k_absorb.cols, 6);
  EXPECT_EQ(layer.k_absorb.map.group, 10);
  EXPECT_TRUE(layer.k_absorb.map.transpose_groups);
  EXPECT_EQ(layer.v_up.rows, 16);
  EXPECT_EQ(layer.v_up.map.from, 6);
}

TEST_F(DeepSeekTest, Fp8HasScalesApart) {
  const std::string name = at(0) + "self_attn.kv_b_proj.weight";
  format_.add(name, {40, 128}, COLIBRI_CODEC_F8_E4M3);
  EXPECT_THAT(refusal(), HasSubstr("there is no tensor '" + name + "_scale_inv' of its scales"));
  format_.add(name + "_scale_inv", {1, 2});
  EXPECT_THAT(refusal(), HasSubstr("are f32 [1, 2], not f32 [1, 1]"));
  format_.tensors.pop_back();
  format_.add(name + "_scale_inv", {1, 1});
  const ModelSpec spec = sound();
  EXPECT_EQ(spec.layers[0].v_up.codec(), static_cast<uint32_t>(COLIBRI_CODEC_F8_E4M3_128));
  EXPECT_EQ(spec.layers[0].k_absorb.codec(), static_cast<uint32_t>(COLIBRI_CODEC_F32));
  format_.tensors[0].codec = COLIBRI_CODEC_F8_E4M3;
  format_.tensors[0].bytes = 16 * 8;
  EXPECT_THAT(refusal(), HasSubstr("the document names no scales of it"));
}

// GPT-OSS: gate and up alternate in one tensor of all experts, mxfp4 or transposed floats.
class GptOssTest : public FamiliesTest {
 protected:
  void SetUp() override {
    FamiliesTest::SetUp();
    hf("gpt_oss", 1);
    set("num_local_experts", int64_t{3});
    set("num_experts_per_tok", int64_t{2});
    set("intermediate_size", int64_t{32});
    set("sliding_window", int64_t{5});
    set("hidden_size", int64_t{32});
    for (FakeFormat::Tensor& tensor : format_.tensors) {
      tensor.shape.back() = 32;
    }
    for (const char* part : {"q", "k", "v", "o"}) {
      const std::string name = at(0) + "self_attn." + part + "_proj.";
      const bool o = *part == 'o';
      const int64_t width = *part == 'q' || o ? 16 : 8;
      format_.add(name + "weight",
                  o ? std::vector<int64_t>{32, 16} : std::vector<int64_t>{width, 32});
      format_.add(name + "bias", {o ? 32 : width});
    }
    format_.add(at(0) + "self_attn.sinks", {4});
    format_.add(at(0) + "mlp.router.weight", {3, 32});
    format_.add(at(0) + "mlp.router.bias", {3});
    format_.add(kExperts + "gate_up_proj_bias", {3, 64});
    format_.add(kExperts + "down_proj_bias", {3, 32});
    uint64_t offset = 0;  // the shapes of the first ones were changed
    for (FakeFormat::Tensor& tensor : format_.tensors) {
      uint64_t bytes = 4;
      for (const int64_t extent : tensor.shape) bytes *= static_cast<uint64_t>(extent);
      tensor.bytes = bytes;
      tensor.offset = offset;
      offset += bytes;
    }
  }

  const std::string kExperts = "model.layers.0.mlp.experts.";
};

TEST_F(GptOssTest, Floats) {
  format_.add(kExperts + "gate_up_proj", {3, 32, 64});
  format_.add(kExperts + "down_proj", {3, 32, 32});
  const FfnSpec expert = sound().layers[0].experts[2];
  EXPECT_TRUE(expert.up.map.transpose);
  EXPECT_EQ(expert.up.map.group, 2);
  EXPECT_EQ(expert.up.map.from, 1);
  EXPECT_EQ(expert.up.map.first, 64);
  EXPECT_EQ(expert.up_bias.map.first, 128);
  EXPECT_EQ(expert.up_bias.map.from, 1);
  EXPECT_EQ(expert.down_bias.cols, 32);
}

TEST_F(GptOssTest, Fp4) {
  format_.add(kExperts + "gate_up_proj_blocks", {3, 64, 1, 16}, COLIBRI_CODEC_U8);
  format_.add(kExperts + "down_proj_blocks", {3, 32, 1, 16}, COLIBRI_CODEC_U8);
  format_.add(kExperts + "gate_up_proj_scales", {3, 64, 1}, COLIBRI_CODEC_U8);
  EXPECT_THAT(refusal(), HasSubstr("there is no tensor '" + kExperts + "down_proj_scales'"));
  format_.add(kExperts + "down_proj_scales", {3, 32, 1}, COLIBRI_CODEC_U8);
  const FfnSpec expert = sound().layers[0].experts[2];
  EXPECT_EQ(expert.gate.codec(), static_cast<uint32_t>(COLIBRI_CODEC_MXFP4));
  EXPECT_EQ(expert.gate.rows, 32);
  EXPECT_EQ(expert.gate.scales->name, kExperts + "gate_up_proj_scales");
  format_.tensors.back().shape = {3, 1, 32};
  EXPECT_THAT(refusal(), HasSubstr("are u8 [3, 1, 32], not u8 [3, 32, 1]"));
}

// u8 means nothing unless a document says what it is.
TEST_F(GptOssTest, BytesThatNoDocumentExplainsAreRefused) {
  format_.add(kExperts + "gate_up_proj", {3, 32, 64}, COLIBRI_CODEC_U8);
  format_.add(kExperts + "down_proj", {3, 32, 32});
  EXPECT_THAT(refusal(), HasSubstr("is stored as u8, and no weights are read from that"));
}

}  // namespace
}  // namespace colibri::model
