// SPDX-License-Identifier: Apache-2.0
// A .colibri file answers as the model it was made from, to the bit; whatever happened while it was
// made, it is the same file; and one that was damaged is refused.
#include "runtime/convert/convert.h"
#include "runtime/base/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/base/container.h"
#include "runtime/base/file.h"
#include "runtime/convert/verify.h"
#include "tests/engine/golden.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

using ::testing::HasSubstr;
using Path = std::filesystem::path;
using Settings = std::vector<std::string>;

const Path kGolden = "tests/golden";
const convert::Progress kSilent = [](uint64_t, uint64_t) {};

class ConvertTest : public ::testing::Test {
 protected:
  ~ConvertTest() override { fault_injection::set_read_fault({}); }

  static Status convert(const Path& model, const Path& to, const Settings& settings = {},
                        const convert::Progress& progress = kSilent) {
    COLIBRI_ASSIGN(const auto plan, make_plan(model, settings));
    return convert::convert(*plan, to, progress);
  }
  // Settings for the file, which the model's own document does not lie beside.
  static Settings as_file(const Path& model, Settings settings = {}) {
    if (std::filesystem::exists(model / "architecture.yaml")) {
      settings.push_back("model.architecture=" +
                         std::filesystem::absolute(model / "architecture.yaml").string());
    }
    return settings;
  }
  // Logits of 24 positions, as bytes.
  static Result<std::string> logits(const Path& path, const Settings& settings) {
    COLIBRI_ASSIGN(const auto model, load_model(path, settings));
    COLIBRI_ASSIGN(const auto context, model->create_context(32));
    std::vector<int32_t> ids(24);
    std::mt19937 random(7);
    for (int32_t& id : ids) {
      id = static_cast<int32_t>(random() % static_cast<uint32_t>(model->spec().vocabulary));
    }
    std::vector<float> rows(ids.size() * static_cast<size_t>(model->spec().vocabulary));
    COLIBRI_TRY(context->forward(ids, engine::LogitsOf::kAll, rows.data()));
    return std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(float));
  }
  static std::string content(const Path& path) { return *read_file(path, uint64_t{1} << 32); }

  const TemporaryFolder temporary_;
  const Path& folder_ = temporary_.path();
};

TEST_F(ConvertTest, EveryGoldenModelAnswersAsItsSource) {
  std::vector<Path> models = golden_models(kGolden);
  for (const auto& entry : std::filesystem::directory_iterator(kGolden / "gguf")) {
    if (entry.path().extension() == ".gguf") models.push_back(entry.path());
  }
  ASSERT_GT(models.size(), 60u);
  for (const Path& model : models) {
    SCOPED_TRACE(model.string());
    const Path file = folder_ / "model.colibri";
    const Status made = convert(model, file);
    ASSERT_TRUE(made.ok()) << made.text();
    const auto want = logits(model, {});
    const auto got = logits(file, as_file(model));
    ASSERT_TRUE(want.ok()) << want.status().text();
    ASSERT_TRUE(got.ok()) << got.status().text();
    EXPECT_TRUE(*want == *got);
    const auto few = logits(file, as_file(model, {"experts.budget=30%", "threads.count=1"}));
    EXPECT_TRUE(!few.ok() || *want == *few);  // 30 % may be below the floor
    std::filesystem::remove(file);
  }
}

TEST_F(ConvertTest, QuantisesGroupByGroup) {
  const Path model = "models/demo";
  const Settings codecs = {"model.quantize.experts=q4_0", "model.quantize.attention=q8_0",
                           "model.quantize.head=q8_0"};
  ASSERT_TRUE(convert(model, folder_ / "a.colibri", codecs).ok());
  const auto want = logits(model, codecs);
  const auto got = logits(folder_ / "a.colibri", {});
  ASSERT_TRUE(got.ok()) << got.status().text();
  EXPECT_TRUE(*want == *got);
  EXPECT_LT(std::filesystem::file_size(folder_ / "a.colibri"),
            std::filesystem::file_size(model / "model.safetensors"));
}

TEST_F(ConvertTest, GoesOnWhereItWasInterrupted) {
  const Path model = kGolden / "models/deepseek_v3_bf16";
  ASSERT_TRUE(convert(model, folder_ / "whole.colibri").ok());
  const std::string want = content(folder_ / "whole.colibri");
  const Path file = folder_ / "cut.colibri";
  for (int reads = 1; reads < 60; reads += 7) {
    SCOPED_TRACE(reads);
    int left = reads;
    fault_injection::set_read_fault([&](const Path& path, uint64_t, uint64_t n) -> int64_t {
      if (path.extension() != ".safetensors" || left-- > 0) return static_cast<int64_t>(n);
      return -EIO;
    });
    const Status cut = convert(model, file);
    fault_injection::set_read_fault({});
    EXPECT_EQ(cut.code(), COLIBRI_IO);
    EXPECT_FALSE(std::filesystem::exists(file));
  }
  const Status other = convert(model, file, {"model.quantize.attention=q8_0"});
  EXPECT_THAT(other.text(), HasSubstr("belongs to another conversion"));
  // What the disk lost of a tensor that was counted is made again.
  {
    std::fstream partial(file.string() + ".partial",
                         std::ios::in | std::ios::out | std::ios::binary);
    partial.seekp(8192);
    partial.write("lost", 4);
  }
  ASSERT_TRUE(convert(model, file).ok());
  EXPECT_TRUE(content(file) == want);
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".partial"));
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".journal"));
}

TEST_F(ConvertTest, RefusesWhatMakesNoSense) {
  const Path model = kGolden / "models/deepseek_v3_bf16";
  const Path file = folder_ / "a.colibri";
  ASSERT_TRUE(convert(model, file).ok());
  EXPECT_THAT(convert(model, file).text(), HasSubstr("exists already"));
  EXPECT_THAT(convert(file, folder_ / "b.colibri").text(), HasSubstr("is a .colibri file already"));
  EXPECT_THAT(make_plan(file, {"model.quantize=q8_0"}).status().text(),
              HasSubstr("is packed already"));
  EXPECT_THAT(convert(model, folder_ / "none/b.colibri").text(), HasSubstr("cannot be written"));
}

// Every bit outside of the padding between tensors counts.
TEST_F(ConvertTest, AChangedBitIsFound) {
  const Path model = kGolden / "models/gqa2_f32";
  const Path file = folder_ / "a.colibri";
  ASSERT_TRUE(convert(model, file).ok());
  const std::string sound = content(file);
  const auto plan = make_plan(file, {});
  ASSERT_TRUE(plan.ok());
  std::vector<uint64_t> places = {0, 9, 20, 100, 4000, 4095};
  uint64_t end = 0;
  for (const model::TensorEntry& tensor : (*plan)->source->tensors()) {
    places.push_back(tensor.offset + tensor.bytes / 2);
    end = std::max(end, tensor.offset + tensor.bytes);
  }
  for (uint64_t at = (end + 4095) / 4096 * 4096; at < sound.size(); at += 97) {
    if (sound[at] != '\0') places.push_back(at);
  }
  ASSERT_GT(places.size(), 40u);
  const auto verified = [&] {
    const auto opened = make_plan(file, {});
    return opened.ok() ? convert::verify(*(*opened)->source, kSilent) : opened.status();
  };
  EXPECT_TRUE(verified().ok());
  for (size_t at = 5; at < sound.size(); at += sound.size() / 97) {  // padding, too
    std::string changed = sound;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_TRUE(write_file(file, changed).ok());
    EXPECT_FALSE(verified().ok()) << "byte " << at;
  }
  for (const uint64_t at : places) {
    std::string changed = sound;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    ASSERT_TRUE(write_file(file, changed).ok());
    EXPECT_FALSE(logits(file, {}).ok()) << "byte " << at;
  }
  for (const size_t size : {size_t{0}, size_t{7}, size_t{4095}, size_t{4096}, sound.size() - 1}) {
    ASSERT_TRUE(write_file(file, sound.substr(0, size)).ok());
    EXPECT_FALSE(logits(file, {}).ok()) << size << " bytes";
  }
}

// Puts bytes into a tensor and makes all checksums right again, as a broken writer would.
void forge(const Path& file, const std::string& tensor_name, uint64_t at, std::string_view bytes) {
  std::string content = *read_file(file, uint64_t{1} << 32);
  container::Head head = *container::decode(content.substr(0, container::kPage), content.size());
  container::Extent& directory = head.sections[container::kDirectory];
  const size_t name = content.find(tensor_name, directory.offset);
  ASSERT_NE(name, std::string::npos);
  size_t entry = name + tensor_name.size() + 8;
  uint32_t rank = 0;
  std::memcpy(&rank, &content[entry], sizeof(rank));
  entry += sizeof(rank) + rank * sizeof(uint64_t);
  uint64_t place[3];  // offset, bytes, checksum
  std::memcpy(place, &content[entry], sizeof(place));
  content.replace(place[0] + at, bytes.size(), bytes);
  place[2] = checksum(std::string_view(content).substr(place[0], place[1]));
  std::memcpy(&content[entry], place, sizeof(place));
  directory.checksum =
      checksum(std::string_view(content).substr(directory.offset, directory.bytes));
  content.replace(0, container::kPage, container::encode(head));
  ASSERT_TRUE(write_file(file, content).ok());
}

TEST_F(ConvertTest, NumbersThatAreNotFiniteAreFound) {
  const Path model = kGolden / "models/gqa2_f32";
  const Path file = folder_ / "a.colibri";
  const std::string nan_f16("\x01\x7e", 2), infinite_f32("\x00\x00\x80\xff", 4);
  for (const std::string codec : {"f32", "q8_0", "q4_0"}) {
    SCOPED_TRACE(codec);
    ASSERT_TRUE(convert(model, file, {"model.quantize.experts=" + codec}).ok());
    forge(file, "layers.0.experts.1.up", 4, codec == "f32" ? infinite_f32 : nan_f16);
    const auto plan = make_plan(file, {});
    ASSERT_TRUE(plan.ok()) << plan.status().text();
    const Status found = convert::verify(*(*plan)->source, kSilent);
    EXPECT_THAT(found.text(), HasSubstr("tensor 'layers.0.experts.1.up'"));
    EXPECT_THAT(found.text(), HasSubstr("NaN or infinite"));
    std::filesystem::remove(file);
  }
}

TEST_F(ConvertTest, ARouterThatIsNotThatOfTheSourceIsFound) {
  const Path model = kGolden / "models/gqa2_f32";
  const Path file = folder_ / "a.colibri";
  for (const Settings& settings : {Settings(), Settings{"model.quantize.router=bf16"}}) {
    ASSERT_TRUE(convert(model, file, settings).ok());
    const auto source = make_plan(model, settings);
    const auto routers = [&] {
      const auto plan = make_plan(file, {});
      return plan.ok() ? convert::verify_routers(*(*plan)->source, **source) : plan.status();
    };
    EXPECT_TRUE(routers().ok()) << routers().text();
    forge(file, "layers.1.router", 8, "1.5");
    EXPECT_THAT(routers().text(), HasSubstr("'layers.1.router' differs from that of the source"));
    std::filesystem::remove(file);
  }
  ASSERT_TRUE(convert(model, file).ok());
  const auto other = make_plan(model, {"model.quantize.router=bf16"});
  const auto plan = make_plan(file, {});
  EXPECT_THAT(convert::verify_routers(*(*plan)->source, **other).text(),
              HasSubstr("is not packed as that of the source"));
}

}  // namespace
}  // namespace colibri::test
