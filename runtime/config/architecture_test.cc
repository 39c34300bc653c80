// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/architecture.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "runtime/base/file.h"

namespace colibri::config {
namespace {

namespace fs = std::filesystem;

constexpr char kMixtral[] = "configs/architectures/mixtral.yaml";

class Mixtral : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = load_architecture(kMixtral);
    ASSERT_TRUE(loaded.ok()) << loaded.status().text();
    document_ = std::move(*loaded);
    hf_ = document_.vocabulary("hf");
    ASSERT_NE(hf_, nullptr);
  }

  Architecture document_;
  const Vocabulary* hf_ = nullptr;
};

TEST_F(Mixtral, MatchesAndRequires) {
  EXPECT_EQ(document_.name, "mixtral");
  ASSERT_EQ(hf_->match.size(), 1u);
  EXPECT_EQ(hf_->match[0].key, "model_type");
  EXPECT_EQ(hf_->match[0].values, std::vector<Literal>{std::string("mixtral")});
  const auto allowed = [&](const std::string& key) {
    for (const Condition& condition : hf_->require) {
      if (condition.key == key) return condition.values;
    }
    return std::vector<Literal>();
  };
  EXPECT_EQ(allowed("hidden_act"), std::vector<Literal>{std::string("silu")});
  EXPECT_EQ(allowed("attention_bias"), std::vector<Literal>{false});
  EXPECT_EQ(allowed("quantization_config"), std::vector<Literal>{std::monostate()});
  EXPECT_EQ(allowed("partial_rotary_factor"), std::vector<Literal>{1.0});
}

TEST_F(Mixtral, DimensionsAreExpressions) {
  const Dimension* head_dim = hf_->dimension("head_dim");
  ASSERT_NE(head_dim, nullptr);
  EXPECT_EQ(head_dim->type, Type::kInteger);
  const Expr& first = head_dim->value;
  ASSERT_EQ(first.kind, Expr::Kind::kFirst);
  ASSERT_EQ(first.operands.size(), 2u);
  EXPECT_EQ(first.operands[0].kind, Expr::Kind::kReference);
  EXPECT_EQ(first.operands[0].name, "head_dim");
  const Expr& div = first.operands[1];
  ASSERT_EQ(div.kind, Expr::Kind::kDiv);
  EXPECT_EQ(div.operands[1].name, "num_attention_heads");
  EXPECT_TRUE(div.operands[1].place().starts_with(std::string(kMixtral) + ":"));
  EXPECT_TRUE(div.operands[1].place().ends_with(":58: dims.hf.head_dim.first.1.div.1"));
  // A literal has the type of its dimension.
  EXPECT_EQ(hf_->dimension("rope_theta")->value.operands[2].literal, Literal(1e6));
  EXPECT_TRUE(hf_->dimension("sliding_window")->nullable);
  EXPECT_EQ(hf_->dimension("sliding_window")->value.operands[1].literal, Literal());
  EXPECT_EQ(hf_->dimension("renormalize"), nullptr);
}

TEST_F(Mixtral, BlockOptions) {
  EXPECT_EQ(document_.embedding.scale.literal, Literal(1.0));
  EXPECT_EQ(document_.norm.eps.name, "eps");
  EXPECT_FALSE(document_.attention.scale);
  EXPECT_EQ(document_.attention.window.name, "sliding_window");
  EXPECT_EQ(document_.rope.style.expr.name, "rope_style");
  EXPECT_EQ(document_.rope.dims.name, "head_dim");
  EXPECT_EQ(document_.rope.theta.name, "rope_theta");
  EXPECT_EQ(document_.router.renormalize.literal, Literal(true));
  EXPECT_TRUE(document_.ffn.gated);
}

TEST_F(Mixtral, TensorsHaveScopesAndTies) {
  EXPECT_EQ(hf_->tensors.size(), 13u);
  const auto tensor = [&](const std::string& role) {
    const auto found =
        std::find_if(hf_->tensors.begin(), hf_->tensors.end(),
                     [&](const TensorTemplate& words) { return words.role == role; });
    return found == hf_->tensors.end() ? nullptr : &*found;
  };
  const TensorTemplate* up = tensor("up");
  ASSERT_NE(up, nullptr);
  EXPECT_EQ(up->scope, TensorTemplate::Scope::kExpert);
  EXPECT_EQ(up->pattern, "model.layers.{l}.block_sparse_moe.experts.{e}.w3.weight");
  EXPECT_EQ(up->optional.literal, Literal(false));
  const TensorTemplate* head = tensor("head");
  EXPECT_EQ(head->tied_to, "embedding");
  EXPECT_EQ(head->optional.name, "tied");
  EXPECT_EQ(hf_->ignore, std::vector<std::string>{"*.rotary_emb.inv_freq"});
}

// What a document leaves out has a default.
TEST(Architectures, DefaultsOfOptions) {
  std::string text = *read_file(kMixtral, 1 << 20);
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace("embedding: { scale: 1.0 }\n", "");
  replace(", scale: inverse_sqrt_head_dim, window: $sliding_window", ", scale: 0.5");
  replace("    sliding_window: { first: [$sliding_window, null] }\n", "");
  replace("    sliding_window: null\n", "");
  replace("  dims: $head_dim\n", "");
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a.yaml";
  std::ofstream(file) << text;
  const auto document = load_architecture(file);
  ASSERT_TRUE(document.ok()) << document.status().text();
  EXPECT_EQ(document->embedding.scale.literal, Literal(1.0));
  EXPECT_EQ(document->attention.scale->literal, Literal(0.5));
  EXPECT_EQ(document->attention.window.literal, Literal());
  EXPECT_EQ(document->rope.dims.name, "head_dim");
}

TEST(Architectures, AFolderOfThemHasDistinctNames) {
  const auto shipped = load_architectures("configs/architectures");
  ASSERT_TRUE(shipped.ok()) << shipped.status().text();
  EXPECT_FALSE(shipped->empty());

  const TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  fs::copy_file(kMixtral, folder / "a.yaml");
  fs::copy_file(kMixtral, folder / "b.yaml");
  EXPECT_EQ(load_architectures(folder).status().text(),
            (folder / "b.yaml").string() + ": metadata.name: 'mixtral' is already the name of " +
                (folder / "a.yaml").string());
  EXPECT_EQ(load_architectures(folder / "none").status().code(), COLIBRI_NOT_FOUND);
}

}  // namespace
}  // namespace colibri::config
