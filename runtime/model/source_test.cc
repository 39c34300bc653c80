// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/source.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/model/fake_format.h"

namespace colibri::model {
namespace {

namespace fs = std::filesystem;

// A model of two tensors in a file of 64 bytes, 0, 1, 2, ...
class ModelSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream stream(folder_ / "w", std::ios::binary);
    for (char c = 0; c < 64; ++c) stream << c;
    format_.add("a", {2, 3});
    format_.add("b", {4});
  }

  Result<std::unique_ptr<ModelSource>> open() {
    COLIBRI_ASSIGN(std::unique_ptr<ModelFiles> files, ModelFiles::open(folder_));
    return ModelSource::open(std::move(files), format_.table());
  }
  // The refusal of the model with its second tensor changed, behind the folder's name.
  std::string refusal(const std::function<void(FakeFormat::Tensor*)>& change) {
    change(&format_.tensors[1]);
    const std::string text = open().status().text();
    return text.substr(std::min(text.size(), folder_.string().size() + 2));
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  FakeFormat format_;
};

TEST_F(ModelSourceTest, FindsAndReadsTensors) {
  const auto source = open();
  ASSERT_TRUE(source.ok()) << source.status().text();
  const TensorEntry* b = (*source)->find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->elements(), 4);
  EXPECT_EQ((*source)->find("c"), nullptr);
  unsigned char bytes[3] = {};
  ASSERT_TRUE((*source)->read(*b, 5, bytes, 3).ok());
  EXPECT_EQ(bytes[0], 24 + 5);
  EXPECT_EQ((*source)->read(*b, 14, bytes, 3).code(), COLIBRI_INTERNAL);
  EXPECT_EQ((*source)->read(*b, UINT64_MAX, bytes, 3).code(), COLIBRI_INTERNAL);
}

TEST_F(ModelSourceTest, AFailedReadNamesTensorAndFile) {
  const auto source = open();
  ASSERT_TRUE(source.ok());
  fault_injection::set_read_fault([](const fs::path&, uint64_t, uint64_t) { return -EIO; });
  char byte = 0;
  const Status status = (*source)->read(*(*source)->find("a"), 0, &byte, 1);
  fault_injection::set_read_fault({});
  EXPECT_EQ(status.code(), COLIBRI_IO);
  EXPECT_TRUE(status.text().starts_with(folder_.string() + ": tensor 'a': ")) << status.text();
  EXPECT_TRUE(status.text().ends_with("failed: Input/output error")) << status.text();
}

TEST_F(ModelSourceTest, TellsWhereMetadataStands) {
  format_.values = {{"hidden_size", int64_t{8}},
                    {"rope_scaling.factor", 2.0},
                    {"generation_config.eos_token_id", int64_t{2}}};
  const auto source = open();
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->metadata("hidden_size")->i, 8);
  EXPECT_EQ((*source)->metadata("x").status().code(), COLIBRI_NOT_FOUND);
  EXPECT_EQ((*source)->place_of("hidden_size"), "config.json: hidden_size");
  EXPECT_EQ((*source)->place_of("generation_config.eos_token_id"),
            "generation_config.json: eos_token_id");
  EXPECT_EQ((*source)->place_of("generation_configs"), "config.json: generation_configs");
  EXPECT_TRUE((*source)->has_members("rope_scaling"));
  EXPECT_FALSE((*source)->has_members("rope"));
  EXPECT_FALSE((*source)->has_members("hidden_size"));
}

// What a format plugin says is not believed.
TEST_F(ModelSourceTest, RefusesWrongStatements) {
  EXPECT_EQ(refusal([](auto* t) { t->name = ""; }), "the name of tensor 1 is empty or not UTF-8");
  EXPECT_EQ(refusal([](auto* t) { t->name = "\xff"; }),
            "the name of tensor 1 is empty or not UTF-8");
  EXPECT_EQ(refusal([](auto* t) { t->name = "a"; }), "tensor 'a' stands twice in the model");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {4}, 31, 24, 16};
            }),
            "tensor 'b' has the unknown codec 31");
  EXPECT_EQ(refusal([](auto* t) { *t = {"b", {4}, COLIBRI_CODEC_F32, 24, 16, 0, 1}; }),
            "tensor 'b' has layout 1 and 1 dimensions; this version reads row-major tensors and "
            "matrices in R8");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {1, 1, 1, 1, 4}, COLIBRI_CODEC_F32, 24, 16};
            }),
            "tensor 'b' has 5 dimensions, more than 4");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {-4}, COLIBRI_CODEC_F32, 24, 16};
            }),
            "tensor 'b' has the negative extent -4");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {int64_t{1} << 40, 1 << 30}, COLIBRI_CODEC_F32};
            }),
            "tensor 'b' has the shape [1099511627776, 1073741824], which overflows");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {INT64_MAX, INT64_MAX, 0}, COLIBRI_CODEC_F32};
            }),
            "tensor 'b' has the shape [9223372036854775807, 9223372036854775807, 0], which "
            "overflows");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {4}, COLIBRI_CODEC_F32, 24, 12};
            }),
            "tensor 'b' takes 12 bytes, and the shape [4] of f32 needs 16");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {2, 48}, COLIBRI_CODEC_Q8_0, 24, 102};
            }),
            "tensor 'b' has rows of 48 elements, and q8_0 needs a multiple of 32");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {}, COLIBRI_CODEC_Q8_0, 24, 34};
            }),
            "tensor 'b' has rows of 1 elements, and q8_0 needs a multiple of 32");
  EXPECT_EQ(refusal([](auto* t) { *t = {"b", {4}, COLIBRI_CODEC_F32, 24, 16, 1}; }),
            "tensor 'b' lies in file 1 of 1");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {4}, COLIBRI_CODEC_F32, 52, 16};
            }),
            "tensor 'b' needs 16 bytes at offset 52 of w, which has 64 bytes");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {4}, COLIBRI_CODEC_F32, UINT64_MAX - 8, 16};
            }),
            "tensor 'b' needs 16 bytes at offset 18446744073709551607 of w, which has 64 bytes");
  EXPECT_EQ(refusal([](auto* t) {
              *t = {"b", {4}, COLIBRI_CODEC_F32, 20, 16};
            }),
            "tensors 'a' and 'b' overlap at byte 20 of w");
}

TEST_F(ModelSourceTest, TakesQuantisedAndEmptyTensors) {
  format_.tensors[1] = {"b", {1, 32}, COLIBRI_CODEC_Q8_0, 24, 34};
  format_.tensors.push_back({"empty", {0, 4}, COLIBRI_CODEC_F32, 30, 0});
  format_.tensors.push_back({"scalar", {}, COLIBRI_CODEC_F32, 60, 4});
  EXPECT_TRUE(open().ok()) << open().status().text();
}

}  // namespace
}  // namespace colibri::model
