// SPDX-License-Identifier: Apache-2.0
// Bad documents and the exact text that refuses each of them: NAME.yaml and NAME.expected. Names
// that begin with architecture_ are architecture documents. extends_base.yaml is good.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/config/architecture.h"
#include "runtime/config/pipeline.h"
#include "runtime/config/value.h"

namespace colibri::config {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "tests/bad_yaml";
constexpr char kGoodBase[] = "extends_base";

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".yaml" && name != kGoodBase) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Status load(const std::string& path, std::vector<Problem>* problems) {
  return fs::path(path).filename().string().starts_with("architecture_")
             ? load_architecture(path, problems).status()
             : load_pipeline(path, {}, problems).status();
}

class BadYaml : public testing::TestWithParam<std::string> {};

TEST_P(BadYaml, IsRefusedWithTheExpectedText) {
  ::unsetenv("COLIBRI_TEST_UNSET");
  const std::string path = std::string(kFolder) + "/" + GetParam();
  const auto expected = read_file(path + ".expected", 1 << 20);
  ASSERT_TRUE(expected.ok()) << expected.status().text();
  std::vector<Problem> problems;
  const Status status = load(path + ".yaml", &problems);
  EXPECT_EQ(status.text() + "\n", *expected);
  EXPECT_EQ(status.code(), COLIBRI_INVALID_ARGUMENT);
  EXPECT_FALSE(problems.empty());
}

INSTANTIATE_TEST_SUITE_P(All, BadYaml, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(BadYamlFolder, HoldsManyCasesAndTheirBaseIsGood) {
  EXPECT_GE(names().size(), 120u);
  const auto base = load_pipeline(std::string(kFolder) + "/" + kGoodBase + ".yaml");
  EXPECT_TRUE(base.ok()) << base.status().text();
}

// What cannot be a file in a repository. Paths are short because the tests run in a folder of their
// own.
class BadFile : public testing::Test {
 protected:
  void SetUp() override {
    home_ = fs::current_path();
    fs::current_path(folder_);
  }
  void TearDown() override { fs::current_path(home_); }

  static std::string refusal(const std::string& path) {
    return load_pipeline(path).status().text();
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

 private:
  fs::path home_;
  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST_F(BadFile, Missing) {
  EXPECT_EQ(refusal("none.yaml"), "none.yaml: cannot be opened: No such file or directory");
}

TEST_F(BadFile, Folder) {
  fs::create_directory("folder.yaml");
  EXPECT_EQ(refusal("folder.yaml"), "folder.yaml: is a folder, not a regular file");
}

TEST_F(BadFile, FifoIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo("fifo.yaml", 0600), 0);
  EXPECT_EQ(refusal("fifo.yaml"), "fifo.yaml: is a FIFO, not a regular file");
}

TEST_F(BadFile, Device) {
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is a device, not a regular file");
}

TEST_F(BadFile, TooLong) {
  write("long.yaml", "a: " + std::string(1 << 20, 'x'));
  EXPECT_EQ(refusal("long.yaml"),
            "long.yaml: has 1048579 bytes, more than the 1048576 that are allowed here");
}

TEST_F(BadFile, TooManyEntries) {
  std::string list = "a: [";
  for (int i = 0; i < 2000; ++i) list += "1,";
  write("many.yaml", list + "]");
  EXPECT_EQ(refusal("many.yaml"), "many.yaml:1:2053: more than 1024 entries in a list or a map");
}

TEST_F(BadFile, BaseIsAFifo) {
  ASSERT_EQ(::mkfifo("base.yaml", 0600), 0);
  write("top.yaml", "apiVersion: colibri/v1\nkind: Pipeline\nextends: [base.yaml]\n");
  EXPECT_EQ(refusal("top.yaml"),
            "top.yaml:3:11: extends.0: base.yaml: is a FIFO, not a regular file");
}

TEST_F(BadFile, VariableThatIsNotUtf8) {
  ASSERT_EQ(::setenv("COLIBRI_TEST_BYTES", "\xff", 1), 0);
  write("env.yaml",
        "apiVersion: colibri/v1\nkind: Pipeline\nmodel: { path: '${env:COLIBRI_TEST_BYTES}' }\n");
  EXPECT_EQ(refusal("env.yaml"),
            "env.yaml:3:16: model.path: the environment variable COLIBRI_TEST_BYTES is not UTF-8 "
            "text");
}

struct BadOverride {
  std::string key, value, text;
};

TEST(BadOverrides, AreRefusedByName) {
  const std::string base = std::string(kFolder) + "/" + kGoodBase + ".yaml";
  for (const BadOverride& bad : std::vector<BadOverride>{
           {"generate.sed", "1",
            "--set: generate.sed: unknown key (did you mean 'seed'? allowed: max_tokens, stop, "
            "seed)"},
           {"threads.count", "010",
            "--set: threads.count: expected auto, or an integer from 1 to 1024, found '010' "
            "(numbers are decimal and have no leading zeros)"},
           {"generate.stop", "[a",
            "--set: generate.stop: a key must be plain text, not a list or a map (is a bracket not "
            "closed?)"},
           {"generate.stop", "a",
            "--set: generate.stop: expected a list of non-empty texts, found "
            "'a'"},
           {"sampling.0.options.value", "0.5",
            "--set: sampling: expected a list of { plugin: id, "
            "options: {} }, found a map"},
           {"numerics.class", "1", "--set: numerics: expected reproducible | fastest, found a map"},
           {"threads.count.of", "1",
            "--set: threads.count: expected auto, or an integer from 1 to "
            "1024, found a map"},
           {"model.path.name", "x", "--set: model.path.name: model.path is 'm', not a map"},
           {"extends", "[a.yaml]", "--set: extends: can be given in a file only"},
           {"extends.0", "a.yaml", "--set: extends.0: can be given in a file only"},
           {"threads", "", "--set: threads: is empty; a document is expected"},
           {"", "1", "--set: expected a map, found '1'"},
           {"generate.stop", "*a",
            "--set: generate.stop: not valid YAML: the referenced anchor is not defined"},
       }) {
    const std::vector<Override> overrides = {{bad.key, bad.value}};
    const auto pipeline = load_pipeline(base, overrides);
    EXPECT_EQ(pipeline.status().text(), bad.text) << bad.key << "=" << bad.value;
  }
}

}  // namespace
}  // namespace colibri::config
