// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/manifest.h"

#include <gtest/gtest.h>

#include "colibri/kernels.h"

namespace colibri::plugin {
namespace {

constexpr char kWhole[] = R"({
  "id": "cpu_avx2", "version": "1.2.3", "abi": "1.0", "interfaces": ["colibri.kernels/0"],
  "requires": {"arch": "x86_64", "cpu": ["avx2", "fma"], "cuda": [75, 120]}, "rank": 200, "numerics": "identical",
  "options": [
    {"name": "strip", "type": "int", "default": 64, "min": 1, "max": 4096, "doc": "columns"},
    {"name": "mode", "type": "string", "values": ["a", "b"], "doc": "which"},
    {"name": "ratio", "type": "float", "default": 1, "doc": "how much"},
    {"name": "loud", "type": "bool", "default": false, "doc": "whether"}]})";

TEST(ManifestTest, ReadsEverything) {
  const Result<Manifest> manifest = parse_manifest(kWhole);
  ASSERT_TRUE(manifest.ok()) << manifest.status().text();
  EXPECT_EQ(manifest->id, "cpu_avx2");
  EXPECT_EQ(manifest->version, "1.2.3");
  EXPECT_TRUE(manifest->abi_fits());
  EXPECT_TRUE(manifest->offers("colibri.kernels/0"));
  EXPECT_FALSE(manifest->offers("colibri.sampler/1"));
  EXPECT_EQ(manifest->architecture, "x86_64");
  EXPECT_EQ(manifest->cpu_features, (std::vector<std::string>{"avx2", "fma"}));
  EXPECT_EQ(manifest->cuda_architectures, (std::vector<uint32_t>{75, 120}));
  EXPECT_EQ(manifest->rank, 200);
  EXPECT_EQ(manifest->numerics, uint32_t{COLIBRI_NUMERICS_IDENTICAL});
  ASSERT_EQ(manifest->options.size(), 4u);
  EXPECT_EQ(manifest->options[0].default_value, OptionValue(int64_t{64}));
  EXPECT_EQ(manifest->options[0].max, OptionValue(int64_t{4096}));
  EXPECT_EQ(manifest->options[1].default_value, std::nullopt);
  EXPECT_EQ(manifest->options[2].default_value, OptionValue(1.0))
      << "a whole number is a float too";
  EXPECT_EQ(manifest->options[3].default_value, OptionValue(false));
}

TEST(ManifestTest, OfAnotherAbiOnlyTheHeadIsRead) {
  for (const char* abi : {"2.0", "1.1", "0.9"}) {
    const Result<Manifest> manifest =
        parse_manifest(std::string(R"({"id":"x","version":"1.0.0","abi":")") + abi +
                       R"(","interfaces":["colibri.sampler/7"],"unheard":[1,2]})");
    ASSERT_TRUE(manifest.ok()) << manifest.status().text();
    EXPECT_FALSE(manifest->abi_fits()) << abi;
    EXPECT_TRUE(manifest->offers("colibri.sampler/7"));
  }
}

// A manifest of a sampler with one member added or exchanged.
std::string sampler_with(const std::string& member) {
  std::string text =
      R"({"id":"s","version":"1.0.0","abi":"1.0","interfaces":["colibri.sampler/1"]})";
  const std::string key = member.substr(0, member.find(':') + 1);
  const size_t begin = text.find(key);
  if (begin == std::string::npos) {
    text.insert(text.size() - 1, "," + member);
  } else {
    const size_t end = key == "\"interfaces\":" ? text.size() - 1 : text.find(',', begin);
    text.replace(begin, end - begin, member);
  }
  return text;
}

TEST(ManifestTest, RefusesByName) {
  struct Case {
    std::string json;
    const char* text;
  };
  const std::string option = R"("options":[{"name":"o","type":"int","doc":"d")";
  const Case cases[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"[1]", "not a JSON object"},
      {"{} trailing", "not JSON"},
      {"{\"id\":\"\xff\"}", "not JSON"},
      {"{\"a\":[[[[[[[[[[1]]]]]]]]]]}", "nested more than 8 levels deep"},
      {R"({"id":"a","id":"b"})", "key 'id' stands twice"},
      {"{}", "id is missing"},
      {sampler_with(R"("id":7)"), "id is not a string"},
      {sampler_with(R"("id":"Big")"), "id is not a name ([a-z][a-z0-9_]*)"},
      {sampler_with(R"("version":"1.0")"), "version is not like 1.2.3"},
      {sampler_with(R"("version":"1..0")"), "version is not like 1.2.3"},
      {sampler_with(R"("abi":"one")"), "abi is not like 1.0"},
      {sampler_with(R"("abi":"99999999999.0")"), "abi is not like 1.0"},
      {sampler_with(R"("interfaces":[])"), "interfaces is empty"},
      {sampler_with(R"("interfaces":"colibri.sampler/1")"), "interfaces is not a list of strings"},
      {sampler_with(R"("interfaces":["sampler"])"),
       "interfaces holds a name unlike colibri.sampler/1"},
      {sampler_with(R"("rank":1.5)"), "rank is not a whole number within a million"},
      {sampler_with(R"("rank":123456789012345678901234567890)"),
       "rank is not a whole number within a million"},
      {sampler_with(R"("numerics":"identical")"), "numerics is for plugins that offer kernels"},
      {sampler_with(R"("interfaces":["colibri.kernels/0"])"), "numerics is missing"},
      {sampler_with(R"("interfaces":["colibri.kernels/0"],"numerics":"exact")"),
       "numerics is not identical, deterministic or approximate"},
      {sampler_with(R"("requires":{"cpu":[]})"), "requires.arch is missing"},
      {sampler_with(R"("requires":{"arch":"x86_64","sm":[90]})"),
       "requires.'sm' is not a key (allowed: arch, cpu, cuda)"},
      {sampler_with(R"("requires":{"arch":"x86_64","cuda":[90,"sm_90"]})"),
       "requires.cuda is not a list of whole numbers below 10000"},
      {sampler_with(R"("requires":{"arch":"x86_64","cuda":[-90]})"),
       "requires.cuda is not a list of whole numbers below 10000"},
      {sampler_with(R"("requires":{"arch":"x86_64","cuda":[10000]})"),
       "requires.cuda is not a list of whole numbers below 10000"},
      {sampler_with(R"("requires":{"arch":"x86_64","cuda":90})"),
       "requires.cuda is not a list of whole numbers below 10000"},
      {sampler_with(R"("ranc":1)"),
       "'ranc' is not a key (did you mean 'rank'? allowed: id, version, abi, interfaces, rank, "
       "numerics, requires, options)"},
      {sampler_with(R"("options":{})"), "options is not a list"},
      {sampler_with(R"("options":[1])"), "options[0] is not an object"},
      {sampler_with(R"("options":[{"name":"o","type":"long","doc":"d"}])"),
       "options[0].type is not bool, int, float, string or file"},
      {sampler_with(option + R"(,"default":"1"}])"), "options[0].default is not of type int"},
      {sampler_with(option + R"(,"default":1.0}])"), "options[0].default is not of type int"},
      {sampler_with(option + R"(,"default":18446744073709551615}])"),
       "options[0].default is not of type int"},
      {sampler_with(option + R"(,"default":5,"max":4}])"), "options[0].default is 5, more than 4"},
      {sampler_with(option + R"(,"values":["1"]}])"), "options[0].values is for string"},
      {sampler_with(
           R"("options":[{"name":"o","type":"string","values":["a"],"default":"b","doc":"d"}])"),
       "options[0].default is 'b', not one of: a"},
      {sampler_with(R"("options":[{"name":"o","type":"bool","min":true,"doc":"d"}])"),
       "options[0].min and max are for int and float"},
      {sampler_with(R"("options":[{"name":"o","type":"int"}])"), "options[0].doc is missing"},
      {sampler_with(option + R"(},{"name":"o","type":"int","doc":"d"}])"),
       "options[1] has the name of another option"},
      {std::string(4097, ' '), "longer than 4096 bytes"},
  };
  for (const Case& c : cases) {
    const Result<Manifest> manifest = parse_manifest(c.json);
    EXPECT_EQ(manifest.status().code(), COLIBRI_CORRUPT_DATA) << c.json;
    EXPECT_EQ(manifest.status().text(), c.text) << c.json;
  }
}

}  // namespace
}  // namespace colibri::plugin
