// SPDX-License-Identifier: Apache-2.0
// Small pieces of template against what Jinja makes of them (tools/goldens/make_snippets.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/chat/template/json_text.h"
#include "runtime/chat/template/template.h"
#include "tests/chat/fixed_date.h"

namespace colibri::chat {
namespace {

using Json = nlohmann::ordered_json;

Result<std::string> render(const std::string& source, const Json& variables) {
  COLIBRI_ASSIGN(const Template compiled, Template::compile("snippet", source));
  Budget budget{Limits()};
  Variables values;
  for (const auto& [name, json] : variables.items()) {
    COLIBRI_ASSIGN(Value value, from_json(budget, json));
    values.emplace_back(name, std::move(value));
  }
  COLIBRI_ASSIGN(const Text text, compiled.render(values, testing::fixed_date(), budget));
  return std::string(text.view());
}

TEST(Snippets, AreWhatJinjaMakesOfThem) {
  std::ifstream file("tests/golden/chat/snippets.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const Json variables = Json::parse(line)["variables"];
  size_t count = 0;
  while (std::getline(file, line)) {
    const Json golden = Json::parse(line);
    ++count;
    const std::string source = golden["template"];
    const Result<std::string> made = render(source, variables);
    if (golden.contains("output")) {
      EXPECT_TRUE(made.ok()) << source << "\n  gives " << made.status().text();
      if (!made.ok()) continue;
      EXPECT_EQ(*made, golden["output"].get<std::string>()) << source;
    } else {
      EXPECT_FALSE(made.ok()) << source << "\n  gives '" << (made.ok() ? *made : "") << "', Jinja "
                              << golden["error"];
      EXPECT_TRUE(made.ok() || made.status().text().starts_with("snippet:")) << source;
    }
  }
  EXPECT_GE(count, 700u);
}

}  // namespace
}  // namespace colibri::chat
