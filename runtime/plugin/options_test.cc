// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/options.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace colibri::plugin {
namespace {

OptionSpec spec(const char* name, OptionType type, std::optional<OptionValue> default_value = {}) {
  OptionSpec made;
  made.name = name;
  made.type = type;
  made.default_value = std::move(default_value);
  made.doc = "what it does";
  return made;
}

const std::vector<OptionSpec>& specs() {
  static const std::vector<OptionSpec> kSpecs = [] {
    std::vector<OptionSpec> all = {
        spec("value", OptionType::kFloat),
        spec("count", OptionType::kInt, OptionValue(int64_t{40})),
        spec("loud", OptionType::kBool, OptionValue(false)),
        spec("mode", OptionType::kString, OptionValue(std::string("a")))};
    all[0].min = 0.0;
    all[0].max = 2.0;
    all[3].values = {"a", "b"};
    return all;
  }();
  return kSpecs;
}

config::Value parse(const std::string& yaml) {
  config::Problems problems;
  const auto value = config::parse_yaml(yaml, "p.yaml", problems);
  EXPECT_TRUE(value.has_value()) << problems.status().text();
  return value.value_or(config::Value());
}

TEST(OptionsTest, TypesComeFromTheManifest) {
  config::Problems problems;
  const Options options = check_options("s", specs(), parse("{value: 1, loud: true, mode: b}"),
                                        "sampling.0.options", nullptr, true, problems);
  EXPECT_TRUE(problems.empty()) << problems.status().text();
  EXPECT_EQ(options.at("value"), OptionValue(1.0));
  EXPECT_EQ(options.at("count"), OptionValue(int64_t{40})) << "the default";
  EXPECT_EQ(options.at("loud"), OptionValue(true));
  EXPECT_EQ(options.at("mode"), OptionValue(std::string("b")));
}

TEST(OptionsTest, AFileIsReadByTheHost) {
  const TemporaryFolder temporary("colibri options 文件");
  const std::filesystem::path& folder = temporary.path();
  std::ofstream(folder / "list") << std::string("3 \0 1\n", 6);
  std::ofstream(folder / "empty");
  const std::vector<OptionSpec> file = {spec("list", OptionType::kFile)};
  const auto given = [&](const std::string& yaml, const std::filesystem::path& document) {
    config::Problems problems;
    const auto value = config::parse_yaml(yaml, document.string(), problems);
    Options options = check_options("p", file, *value, "k", nullptr, true, problems);
    return problems.empty() ? text_of(options.at("list")) : problems.status().text();
  };
  EXPECT_EQ(given("{list: list}", folder / "p.yaml"), std::string("3 \0 1\n", 6));
  const std::string place = (folder / "p.yaml").string() + ":1:8: k.list: ";
  EXPECT_EQ(given("{list: empty}", folder / "p.yaml"), place + "names an empty file: 'empty'");
  EXPECT_EQ(given("{list: [1]}", folder / "p.yaml"), place + "must be of type file, not a list");
  const std::string absent = given("{list: absent}", folder / "p.yaml");
  EXPECT_TRUE(absent.starts_with(place + (folder / "absent").string())) << absent;
}

TEST(OptionsTest, WhatIsNotGivenComesFromTheBase) {
  config::Problems problems;
  const Options base = {{"value", 0.5}, {"count", int64_t{7}}};
  const Options options =
      check_options("s", specs(), parse("{count: 8}"), "k", &base, true, problems);
  EXPECT_TRUE(problems.empty()) << problems.status().text();
  EXPECT_EQ(options.at("value"), OptionValue(0.5));
  EXPECT_EQ(options.at("count"), OptionValue(int64_t{8}));
}

TEST(OptionsTest, IncompleteMayLackOptionsWithoutDefault) {
  config::Problems problems;
  const Options options =
      check_options("s", specs(), config::Value(), "k", nullptr, false, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_FALSE(options.contains("value"));
  EXPECT_TRUE(options.contains("count"));
}

TEST(OptionsTest, ReportsAllProblemsWithTheirPlaces) {
  config::Problems problems;
  check_options("s", specs(), parse("count: 1.5\nloud: \"true\"\nmode: c\nvalu: 1\nvalue: 3\n"),
                "k", nullptr, true, problems);
  EXPECT_EQ(
      problems.status().text(),
      "p.yaml:1:8: k.count: must be of type int, not '1.5'\n"
      "p.yaml:2:7: k.loud: must be of type bool, not the quoted text 'true'\n"
      "p.yaml:3:7: k.mode: is 'c', not one of: a, b\n"
      "p.yaml:4:1: k.valu: plugin s has no such option (did you mean 'value'? allowed: value, "
      "count, loud, mode)\n"
      "p.yaml:5:8: k.value: is 3, more than 2");
}

TEST(OptionsTest, NeededOptionsAndWrongForms) {
  config::Problems problems;
  check_options("s", specs(), config::Value(), "k", nullptr, true, problems);
  check_options("none", {}, parse("{x: 1}"), "k", nullptr, true, problems);
  check_options("s", specs(), parse("[1]"), "k", nullptr, true, problems);
  check_options("s", specs(), parse("{value: [1]}"), "k", nullptr, true, problems);
  EXPECT_EQ(problems.status().text(),
            "default: k.value: plugin s needs this option (float: what it does)\n"
            "p.yaml:1:1: k: is not a map of options\n"
            "p.yaml:1:2: k.x: plugin none has no such option; it has none at all\n"
            "p.yaml:1:9: k.value: must be of type float, not a list");
}

TEST(OptionsTest, Text) {
  EXPECT_EQ(text_of(OptionValue(0.1)), "0.1");
  EXPECT_EQ(text_of(OptionValue(int64_t{-3})), "-3");
  EXPECT_EQ(text_of(OptionValue(true)), "true");
  EXPECT_EQ(text_of(OptionValue(std::string("x"))), "x");
}

}  // namespace
}  // namespace colibri::plugin
