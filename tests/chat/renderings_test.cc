// SPDX-License-Identifier: Apache-2.0
// Conversations as transformers' apply_chat_template renders them (tools/goldens/make_chat.py).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "runtime/chat/template/json_text.h"
#include "runtime/chat/template/template.h"
#include "tests/chat/fixed_date.h"

namespace colibri::chat {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const fs::path kFolder = "tests/golden/chat";

std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::map<std::string, Template> compiled_templates() {
  std::map<std::string, Template> all;
  for (const auto& entry : fs::directory_iterator(kFolder / "templates")) {
    const std::string name = entry.path().stem();
    auto compiled = Template::compile(name, content_of(entry.path()));
    EXPECT_TRUE(compiled.ok()) << compiled.status().text();
    if (compiled.ok()) all.emplace(name, std::move(*compiled));
  }
  return all;
}

Result<std::string> render(const Template& compiled, const Json& data, const Json& golden) {
  Budget budget{Limits()};
  Json variables = data["special_tokens"];
  variables["tools"] = nullptr;
  variables["documents"] = nullptr;
  variables.update(data["options"][golden["options"].get<std::string>()]);
  variables["messages"] = data["conversations"][golden["conversation"].get<std::string>()];
  Variables values;
  for (const auto& [name, json] : variables.items()) {
    COLIBRI_ASSIGN(Value value, from_json(budget, json, "role"));
    values.emplace_back(name, std::move(value));
  }
  COLIBRI_ASSIGN(const Text text, compiled.render(values, testing::fixed_date(), budget));
  return std::string(text.view());
}

TEST(Renderings, AreThoseOfTransformers) {
  const auto templates = compiled_templates();
  const Json data = Json::parse(content_of(kFolder / "conversations.json"));
  std::ifstream file(kFolder / "renderings.jsonl");
  size_t whole = 0, refused = 0;
  for (std::string line; std::getline(file, line);) {
    const Json golden = Json::parse(line);
    const std::string name = golden["template"];
    ASSERT_TRUE(templates.contains(name)) << name;
    const std::string where = name + ", " + golden["conversation"].get<std::string>() + ", " +
                              golden["options"].get<std::string>();
    const Result<std::string> made = render(templates.at(name), data, golden);
    if (golden.contains("output")) {
      EXPECT_TRUE(made.ok()) << where << ": " << made.status().text();
      if (!made.ok()) continue;
      EXPECT_EQ(*made, golden["output"].get<std::string>()) << where;
      ++whole;
    } else {
      EXPECT_FALSE(made.ok()) << where << ": transformers says " << golden["error"];
      ++refused;
    }
  }
  EXPECT_GE(whole, 600u);
  EXPECT_GE(refused, 50u);
}

}  // namespace
}  // namespace colibri::chat
