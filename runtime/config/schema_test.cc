// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/schema.h"

#include <gtest/gtest.h>

#include "runtime/base/file.h"
#include "runtime/config/architecture_schema.h"
#include "runtime/config/pipeline_schema.h"
#include "runtime/config/schema_text.h"

namespace colibri::config {
namespace {

std::string file_text(const std::string& path) {
  const Result<std::string> text = read_file(path, 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status().text();
  return text.ok() ? *text : "";
}

// To renew them: colibri config schema KIND [--markdown].
TEST(Schema, TheCommittedFilesAreThoseOfTheTables) {
  EXPECT_EQ(file_text("configs/schema/pipeline.schema.json"), json_schema(kPipelineTable));
  EXPECT_EQ(file_text("configs/schema/architecture.schema.json"), json_schema(kArchitectureTable));
  EXPECT_EQ(file_text("docs/pipeline.md"), reference_page(kPipelineTable));
  EXPECT_EQ(file_text("docs/architectures.md"), reference_page(kArchitectureTable));
}

TEST(Schema, EveryKeyIsDocumentedAndExplained) {
  for (const Table* table : {&kPipelineTable, &kArchitectureTable}) {
    for (const std::string& key : all_keys(*table)) {
      const Field* field = find_field(*table, key);
      ASSERT_NE(field, nullptr) << key;
      EXPECT_FALSE(field->doc.empty()) << key;
      EXPECT_NE(field->type, nullptr) << key;
      const auto text = explain(*table, key);
      ASSERT_TRUE(text.ok()) << key;
      EXPECT_NE(text->find(field->doc), std::string::npos) << key;
    }
  }
}

TEST(Schema, AllKeysOfAPipeline) {
  const std::vector<std::string> keys = {
      "apiVersion",
      "kind",
      "metadata.name",
      "extends",
      "model.path",
      "model.format",
      "model.architecture",
      "model.quantize",
      "model.quantize.experts",
      "model.quantize.attention",
      "model.quantize.router",
      "model.quantize.embedding",
      "model.quantize.head",
      "tokenizer.plugin",
      "tokenizer.options",
      "plugins.search",
      "plugins.prefer",
      "plugins.deny",
      "plugins.operators",
      "plugins.options",
      "numerics",
      "placement",
      "placement.experts",
      "placement.dense",
      "devices.memory",
      "threads.count",
      "threads.decode",
      "experts.budget",
      "experts.policy.plugin",
      "experts.policy.options",
      "experts.io.engine",
      "experts.io.direct",
      "experts.io.depth",
      "experts.prefetch",
      "context.max_tokens",
      "context.kv",
      "context.prefill_chunk",
      "prompt.template",
      "chat.template",
      "sampling.*.plugin",
      "sampling.*.options",
      "generate.max_tokens",
      "generate.stop",
      "generate.seed",
  };
  EXPECT_EQ(all_keys(kPipelineTable), keys);
}

TEST(Schema, FindsKeysWithAndWithoutIndex) {
  const Field* plugin = find_field(kPipelineTable, "sampling.plugin");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(find_field(kPipelineTable, "sampling.3.plugin"), plugin);
  EXPECT_EQ(find_field(kPipelineTable, "sampling.*.plugin"), plugin);
  EXPECT_EQ(find_field(kPipelineTable, "sampling.x.plugin"), nullptr);
  EXPECT_EQ(find_field(kPipelineTable, "sampling.0.options.value"), nullptr);
  EXPECT_EQ(find_field(kPipelineTable, "threads.count.of"), nullptr);
  EXPECT_EQ(find_field(kPipelineTable, ""), nullptr);
}

TEST(Schema, ExplainsAndSuggests) {
  EXPECT_EQ(*explain(kPipelineTable, "threads.count"),
            "threads.count\n"
            "  Threads that compute. `auto`: the physical cores that this process may use.\n"
            "  value:   auto, or an integer from 1 to 1024\n"
            "  default: auto\n");
  EXPECT_EQ(explain(kPipelineTable, "experts.bugdet").status().text(),
            "'experts.bugdet' is no key of kind Pipeline (did you mean 'budget'? allowed: budget, "
            "policy, io, prefetch)");
}

}  // namespace
}  // namespace colibri::config
