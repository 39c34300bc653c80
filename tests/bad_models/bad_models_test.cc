// SPDX-License-Identifier: Apache-2.0
// Every bad model is refused with the text of golden.txt, byte for byte. COLIBRI_UPDATE_GOLDENS=1
// writes the file anew; read the difference before committing it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "plugins/formats/colibri/format.h"
#include "plugins/formats/gguf/format.h"
#include "plugins/formats/safetensors/format.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/config/architecture.h"
#include "runtime/model/bind.h"
#include "runtime/model/codecs.h"
#include "runtime/model/rows.h"
#include "tests/bad_models/cases.h"
#include "tests/bad_models/container_file.h"
#include "tests/bad_models/gguf_file.h"

namespace colibri::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGolden = "tests/bad_models/golden.txt";
constexpr const char* kArchitectures = "configs/architectures";

// What a program does with a model up to its first number. `folder` is called MODEL in messages.
Status check_finite(const model::ModelSource& source, const model::Weight& weight) {
  std::vector<std::byte> bytes(weight.bytes());
  std::vector<std::byte> scratch(model::rows_scratch_bytes(weight, weight.rows));
  COLIBRI_TRY(model::read_rows(source, weight, 0, weight.rows, bytes.data(), scratch.data()));
  return model::check_finite(weight.codec(), bytes.data(), bytes.size(), weight.name())
      .at(source.files().path());
}

Status load(const std::string& path) {
  COLIBRI_ASSIGN(std::unique_ptr<model::ModelFiles> files, model::ModelFiles::open(path));
  const std::pair<const char*, const colibri_format_1*> formats[] = {
      {"safetensors", &safetensors::kFormat},
      {"gguf", &gguf::kFormat},
      {"colibri", &colibri_format::kFormat}};
  const colibri_format_1* format = nullptr;
  std::string reasons;
  for (const auto& [name, table] : formats) {
    char why_not[128] = {};
    if (format == nullptr && table->accepts(files->table(), why_not) != 0) format = table;
    reasons += std::string("\n  ") + name + ": " + why_not;
  }
  if (format == nullptr)
    return unsupported(path + ": no format plugin accepts this model:" + reasons);
  COLIBRI_ASSIGN(const std::unique_ptr<model::ModelSource> source,
                 model::ModelSource::open(std::move(files), format));
  COLIBRI_ASSIGN(const std::vector<config::Architecture> known,
                 config::load_architectures(kArchitectures));
  COLIBRI_ASSIGN(const config::Architecture* architecture, model::match(*source, known, "auto"));
  COLIBRI_ASSIGN(const model::ModelSpec spec, model::bind(*source, *architecture));
  COLIBRI_TRY(check_finite(*source, spec.embedding));
  for (const model::LayerSpec& layer : spec.layers) {
    for (const model::FfnSpec& expert : layer.experts) {
      COLIBRI_TRY(check_finite(*source, expert.gate));
      COLIBRI_TRY(check_finite(*source, expert.up));
      COLIBRI_TRY(check_finite(*source, expert.down));
    }
  }
  return {};
}

class BadModels : public ::testing::Test {
 protected:
  // The text of the refusal; empty = the model was taken.
  std::string refusal(const BadModel& bad) {
    const fs::path folder = root_ / "m";
    fs::create_directory(folder);
    TinyModel model;
    bad.damage(&model);
    model.write(folder);
    if (bad.after) bad.after(folder);
    std::string text = load(bad.open.empty() ? folder : folder / bad.open).text();
    fs::remove_all(folder);
    const std::string path = folder;
    for (size_t at = 0; (at = text.find(path, at)) != std::string::npos;) {
      text.replace(at, path.size(), "MODEL");
    }
    return text;
  }

  const TemporaryFolder temporary_;
  const fs::path& root_ = temporary_.path();
};

std::vector<BadModel> all_cases() {
  std::vector<BadModel> all;
  for (const auto& group :
       {bad_files(), bad_headers(), bad_gguf(), bad_containers(), bad_configs(), bad_tensors()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

std::string read_golden() {
  std::ostringstream text;
  text << std::ifstream(kGolden).rdbuf();
  return text.str();
}

TEST_F(BadModels, TheSoundModelIsTaken) {
  EXPECT_EQ(refusal({"sound", [](TinyModel*) {}, {}, ""}), "");
  EXPECT_EQ(refusal({"tied",
                     [](TinyModel* model) {
                       std::vector<TinyTensor> tensors = tiny_tensors();
                       tensors.pop_back();
                       model->header = header_of(tensors);
                       model->data = data_of(tensors);
                       replace(&model->config, "\"tie_word_embeddings\": false",
                               "\"tie_word_embeddings\": true");
                     },
                     {},
                     ""}),
            "");
}

TEST_F(BadModels, TheSoundContainerIsTaken) {
  EXPECT_EQ(refusal({"sound_container",
                     [](TinyModel* model) {
                       model->has_config = model->has_weights = false;
                       model->files["m.colibri"] = tiny_container().bytes();
                     },
                     {},
                     "m.colibri"}),
            "");
}

TEST_F(BadModels, TheSoundGgufFileIsTaken) {
  EXPECT_EQ(refusal({"sound_gguf",
                     [](TinyModel* model) {
                       model->has_config = model->has_weights = false;
                       model->files["m.gguf"] = tiny_gguf().bytes();
                     },
                     {},
                     ""}),
            "");
}

TEST_F(BadModels, EachIsRefusedInTheseWords) {
  std::string text;
  size_t count = 0;
  for (const BadModel& bad : all_cases()) {
    const std::string refused = refusal(bad);
    EXPECT_NE(refused, "") << bad.name << " was taken";
    EXPECT_TRUE(std::all_of(refused.begin(), refused.end(), [](char c) {
      return c == '\n' || static_cast<unsigned char>(c) >= ' ';
    })) << bad.name;
    text += "== " + bad.name + "\n" + refused + "\n";
    ++count;
  }
  EXPECT_GE(count, 40u);
  if (std::getenv("COLIBRI_UPDATE_GOLDENS") != nullptr) std::ofstream(kGolden) << text;
  EXPECT_EQ(text, read_golden());
}

}  // namespace
}  // namespace colibri::testing
