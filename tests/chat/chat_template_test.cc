// SPDX-License-Identifier: Apache-2.0
// Which template a checkpoint has, and what is said of those that are none.
#include "runtime/chat/chat_template.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/chat/fixed_date.h"
#include "tests/engine/loaded_model.h"

namespace colibri::chat {
namespace {

namespace fs = std::filesystem;

class ChatTemplateTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::copy("tests/golden/models/text_bf16", folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  // "origin: rendering" of a question, or the failure, the folder's name replaced by MODEL.
  std::string opened(bool tools = false) {
    const auto model = test::load_model(folder_, {});
    if (!model.ok()) return model.status().text();
    const engine::Plan& plan = (*model)->plan();
    const auto found = ChatTemplate::open(plan.pipeline, *plan.source, *plan.tokenizer);
    if (!found.ok()) return without_folder(found.status().text());
    Conversation conversation;
    conversation.messages = {{{"role", "user"}, {"content", "hi"}}};
    if (tools) conversation.tools = Json::array({{{"name", "f"}}});
    conversation.options = {{"style", "short"}};
    const auto text = found->render(conversation, testing::fixed_date());
    return found->origin() + ": " + (text.ok() ? std::string(text->view()) : text.status().text());
  }
  std::string without_folder(std::string text) const {
    const std::string name = folder_.string();
    for (size_t at = text.find(name); at != text.npos; at = text.find(name)) {
      text.replace(at, name.size(), "MODEL");
    }
    return text;
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST_F(ChatTemplateTest, TheFileIsStrongerThanTheConfiguration) {
  write("tokenizer_config.json", R"({"chat_template": "config"})");
  EXPECT_EQ(opened(), "tokenizer_config.json: chat_template: config");
  write("chat_template.jinja", "file\n");
  EXPECT_EQ(opened(), "chat_template.jinja: file");
}

TEST_F(ChatTemplateTest, NamedTemplatesAreChosenByTools) {
  write("tokenizer_config.json", R"({"chat_template": [{"name": "tool_use", "template": "t"},
                                                       {"name": "default", "template": "d"}]})");
  EXPECT_EQ(opened(), "tokenizer_config.json: chat_template: d");
  EXPECT_EQ(opened(true), "tokenizer_config.json: chat_template: t");
}

TEST_F(ChatTemplateTest, AFolderHoldsMoreTemplates) {
  write("chat_template.jinja", "d");
  fs::create_directory(folder_ / "additional_chat_templates");
  write("additional_chat_templates/tool_use.jinja", "t");
  EXPECT_EQ(opened(), "chat_template.jinja: d");
  EXPECT_EQ(opened(true), "chat_template.jinja: t");
  write("additional_chat_templates/tool_use.jinja", "{{");
  EXPECT_NE(opened().find("MODEL: additional_chat_templates/'tool_use':1:1: "), std::string::npos)
      << opened();
  write("additional_chat_templates/tool_use.jinja", "t");
  write("additional_chat_templates/default.jinja", "x");
  EXPECT_EQ(opened(),
            "MODEL: additional_chat_templates/'default': there is another template named "
            "'default'");
}

TEST_F(ChatTemplateTest, VariablesAreThoseOfTransformers) {
  write(
      "tokenizer_config.json",
      R"({"bos_token": {"content": "<bos>", "lstrip": false}, "eos_token": "<eos>", "pad_token": null})");
  write("special_tokens_map.json", R"({"eos_token": "no", "unk_token": {"content": "<unk>"}})");
  write("chat_template.jinja",
        "{{ bos_token }}{{ eos_token }}{{ unk_token }}{{ pad_token is defined }} {{ tools }} "
        "{{ add_generation_prompt }} {{ style }} {{ strftime_now('%F') }} {{ messages }}");
  EXPECT_EQ(opened(),
            "chat_template.jinja: <bos><eos><unk>False None True short 2026-03-07 "
            "[{'role': 'user', 'content': 'hi'}]");
}

TEST_F(ChatTemplateTest, WhatIsNoTemplateIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"chat_template": 5})",
       "MODEL: tokenizer_config.json: chat_template: is no text and no list"},
      {R"({"chat_template": {}})",
       "MODEL: tokenizer_config.json: chat_template: is no text and no list"},
      {R"({"chat_template": ["x"]})",
       "MODEL: tokenizer_config.json: chat_template: an entry is no {name, template}"},
      {R"({"chat_template": [{"name": "default"}]})",
       "MODEL: tokenizer_config.json: chat_template: an entry is no {name, template}"},
      {R"({"chat_template": [{"name": "rag", "template": "x"}, {"name": "b\na", "template": "y"}]})",
       "MODEL: tokenizer_config.json: chat_template: none of the templates is named 'default'; "
       "there "
       "are: 'b\\x0aa', 'rag'"},
      {R"({"chat_template": [{"name": "a", "template": "x"}, {"name": "a", "template": "y"}]})",
       "MODEL: tokenizer_config.json: chat_template 'a': there is another template named 'a'"},
      {R"({"chat_template": "a\n{{ b | nosuch }}"})",
       "MODEL: tokenizer_config.json: chat_template:2:8: unknown filter 'nosuch'"},
  };
  for (const auto& [json, wanted] : cases) {
    write("tokenizer_config.json", json);
    EXPECT_NE(opened().find(wanted), std::string::npos) << json << " gives " << opened();
  }
}

}  // namespace
}  // namespace colibri::chat
