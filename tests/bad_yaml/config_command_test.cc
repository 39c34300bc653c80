// SPDX-License-Identifier: Apache-2.0
// colibri config as a person runs it: exit codes, and what goes to which stream.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/base/file.h"

namespace colibri {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string text;
};

// `redirect` says which streams are read, e.g. "2>&1 >/dev/null" for standard error alone.
Outcome run(const std::string& arguments, const std::string& redirect) {
  const std::string line = "'" COLIBRI_PROGRAM "' config " + arguments + " " + redirect;
  FILE* pipe = ::popen(line.c_str(), "r");
  Outcome result;
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer;
  for (size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.text.append(buffer.data(), n);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

Outcome out(const std::string& arguments) {
  return run(arguments, "2>/dev/null");
}
Outcome err(const std::string& arguments) {
  return run(arguments, "2>&1 >/dev/null");
}

constexpr char kGood[] = "configs/pipelines/plc_summary_zh.yaml";
constexpr char kArchitecture[] = "configs/architectures/mixtral.yaml";
constexpr char kBad[] = "tests/bad_yaml/many_at_once.yaml";

TEST(ConfigValidate, SaysWhatIsGoodOnStandardOutput) {
  const Outcome good = out(std::string("validate ") + kGood + " " + kArchitecture);
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.text, std::string(kGood) + ": is a valid Pipeline\n" + kArchitecture +
                           ": is a valid Architecture\n");
}

TEST(ConfigValidate, SaysWhatIsBadOnStandardErrorAndGoesOn) {
  const std::string arguments = std::string("validate ") + kBad + " " + kGood;
  const Outcome bad = err(arguments);
  EXPECT_EQ(bad.exit_code, 2);
  const auto expected = read_file("tests/bad_yaml/many_at_once.expected", 1 << 20);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(bad.text, *expected);
  EXPECT_EQ(out(arguments).text, std::string(kGood) + ": is a valid Pipeline\n");
}

TEST(ConfigValidate, PrintsJson) {
  const Outcome bad = out(std::string("validate --json ") + kBad);
  EXPECT_EQ(bad.exit_code, 2);
  const auto json = nlohmann::json::parse(bad.text, nullptr, false);
  ASSERT_TRUE(json.is_array()) << bad.text;
  ASSERT_EQ(json[0]["problems"].size(), 6u);
  EXPECT_EQ(json[0]["problems"][4]["key"], "experts.budget");
  EXPECT_EQ(json[0]["problems"][4]["line"], 5);
  EXPECT_EQ(json[0]["problems"][4]["column"], 20);
}

TEST(ConfigPrint, ShowsOriginsAndOverrides) {
  const Outcome printed = out(std::string("print ") + kGood + " -t 2 --set experts.budget=40%");
  EXPECT_EQ(printed.exit_code, 0);
  for (const char* part : {"count: 2 ", "# -t\n", "budget: 40% ", "# --set\n", "# default\n",
                           "# configs/pipelines/plc_summary.yaml:"}) {
    EXPECT_NE(printed.text.find(part), std::string::npos) << part << " in\n" << printed.text;
  }
  EXPECT_EQ(err(std::string("print ") + kGood + " --set threads.count=0").exit_code, 2);
}

TEST(ConfigExplain, KnowsBothKinds) {
  EXPECT_NE(out("explain rope.theta").text.find("Base of the frequencies"), std::string::npos);
  EXPECT_NE(out("explain generate.seed").text.find("default: 0\n"), std::string::npos);
  const Outcome unknown = err("explain experts.bugdet");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.text.find("did you mean 'budget'?"), std::string::npos) << unknown.text;
}

TEST(ConfigSchema, PrintsTheCommittedFiles) {
  const auto committed = read_file("configs/schema/architecture.schema.json", 1 << 20);
  ASSERT_TRUE(committed.ok());
  EXPECT_EQ(out("schema architecture").text, *committed);
  EXPECT_EQ(err("schema plugin").exit_code, 2);
  EXPECT_EQ(err("").exit_code, 2);
}

}  // namespace
}  // namespace colibri
