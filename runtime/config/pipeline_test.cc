// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/pipeline.h"
#include "runtime/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "colibri/codec.h"
#include "runtime/config/print.h"

namespace colibri::config {
namespace {

namespace fs = std::filesystem;

constexpr char kHead[] = "apiVersion: colibri/v1\nkind: Pipeline\n";

// Tests write their documents into a folder whose name is awkward on purpose.
class PipelineTest : public testing::Test {
 protected:
  void SetUp() override {
    home_ = fs::current_path();
    fs::create_directories(folder_ / "sub");
    fs::current_path(folder_);
  }
  void TearDown() override { fs::current_path(home_); }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << kHead << text;
  }
  static Pipeline load(const std::string& path, const std::vector<Override>& overrides = {}) {
    const auto pipeline = load_pipeline(path, overrides);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status().text();
    return pipeline.ok() ? *pipeline : Pipeline();
  }
  static Pipeline of(const std::string& text, const std::vector<Override>& overrides = {}) {
    write("p.yaml", text);
    return load("p.yaml", overrides);
  }
  static Budget budget(const std::string& text) {
    return of("model: { path: m }\nexperts: { budget: " + text + " }\n").experts.budget;
  }

 private:
  fs::path home_;
  const TemporaryFolder temporary_{"\xE7\xAE\xA1 line"};
  const fs::path& folder_ = temporary_.path();
};

TEST_F(PipelineTest, DefaultsAreFilledIn) {
  const auto pipeline = default_pipeline("some/model");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().text();
  EXPECT_EQ(pipeline->model.path, "some/model");
  EXPECT_EQ(pipeline->model.format, "auto");
  EXPECT_EQ(pipeline->model.architecture, "auto");
  EXPECT_EQ(pipeline->model.quantize.experts, COLIBRI_CODEC_NONE);
  EXPECT_EQ(pipeline->tokenizer.plugin, "auto");
  EXPECT_EQ(pipeline->numerics, Numerics::kReproducible);
  EXPECT_FALSE(pipeline->threads.count);
  EXPECT_EQ(pipeline->experts.budget.kind, Budget::Kind::kAuto);
  EXPECT_EQ(pipeline->experts.policy.plugin, "arc");
  EXPECT_EQ(pipeline->experts.policy.key, "experts.policy");
  EXPECT_FALSE(pipeline->context.max_tokens);
  EXPECT_EQ(pipeline->context.kv, COLIBRI_CODEC_F16);
  EXPECT_EQ(pipeline->context.prefill_chunk, 512u);
  EXPECT_EQ(pipeline->prompt.text, "{input}");
  EXPECT_TRUE(pipeline->sampling.empty());
  EXPECT_EQ(pipeline->generate.max_tokens, 256u);
  EXPECT_EQ(pipeline->generate.seed, 0u);
}

TEST_F(PipelineTest, EveryKeyReachesItsMember) {
  const Pipeline p = of(R"(metadata: { name: "n" }
model: { path: m, format: safetensors, architecture: docs/a.yaml,
         quantize: { experts: q4_0, attention: bf16, router: f32, embedding: f16, head: q8_0 } }
tokenizer: { plugin: bpe, options: { cache: 8 } }
plugins: { search: [sub, /abs], prefer: [a, b], deny: [c], operators: { attention: d },
           options: { e: { fast: true } } }
numerics: fastest
threads: { count: 3 }
experts: { budget: 1.5MiB, policy: { plugin: lfu, options: { age: 2 } } }
context: { max_tokens: 64, kv: f32, prefill_chunk: 7 }
prompt: { template: "<{input}>" }
sampling:
  - { plugin: top_k, options: { k: 40 } }
  - plugin: top_p
generate: { max_tokens: 9, stop: [x, "y z"], seed: 9223372036854775807 }
)");
  EXPECT_EQ(p.name, "n");
  EXPECT_EQ(p.model.path, "m");
  EXPECT_EQ(p.model.format, "safetensors");
  EXPECT_EQ(p.model.architecture, "docs/a.yaml");
  EXPECT_EQ(p.model.quantize.experts, COLIBRI_CODEC_Q4_0);
  EXPECT_EQ(p.model.quantize.attention, COLIBRI_CODEC_BF16);
  EXPECT_EQ(p.model.quantize.router, COLIBRI_CODEC_F32);
  EXPECT_EQ(p.model.quantize.embedding, COLIBRI_CODEC_F16);
  EXPECT_EQ(p.model.quantize.head, COLIBRI_CODEC_Q8_0);
  EXPECT_EQ(p.tokenizer.plugin, "bpe");
  EXPECT_EQ(p.tokenizer.options.find("cache")->text, "8");
  EXPECT_EQ(p.plugins.search, (std::vector<fs::path>{"sub", "/abs"}));
  EXPECT_EQ(p.plugins.prefer, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(p.plugins.deny, (std::vector<std::string>{"c"}));
  EXPECT_EQ(p.plugins.operators.at("attention"), "d");
  EXPECT_EQ(p.plugins.options.at("e").find("fast")->text, "true");
  EXPECT_EQ(p.numerics, Numerics::kFastest);
  EXPECT_EQ(p.threads.count, 3u);
  EXPECT_EQ(p.experts.budget.bytes, 3u << 19);
  EXPECT_EQ(p.experts.policy.plugin, "lfu");
  EXPECT_EQ(p.experts.policy.options.find("age")->text, "2");
  EXPECT_EQ(p.context.max_tokens, 64u);
  EXPECT_EQ(p.context.kv, COLIBRI_CODEC_F32);
  EXPECT_EQ(p.context.prefill_chunk, 7u);
  EXPECT_EQ(p.prompt.text, "<{input}>");
  ASSERT_EQ(p.sampling.size(), 2u);
  EXPECT_EQ(p.sampling[0].options.find("k")->text, "40");
  EXPECT_EQ(p.sampling[1].plugin, "top_p");
  EXPECT_EQ(p.sampling[1].key, "sampling.1");
  EXPECT_TRUE(p.sampling[1].options.is_map());
  EXPECT_EQ(p.generate.max_tokens, 9u);
  EXPECT_EQ(p.generate.stop, (std::vector<std::string>{"x", "y z"}));
  EXPECT_EQ(p.generate.seed, static_cast<uint64_t>(INT64_MAX));
}

TEST_F(PipelineTest, BudgetsHaveUnits) {
  EXPECT_EQ(budget("auto").kind, Budget::Kind::kAuto);
  EXPECT_EQ(budget("all").kind, Budget::Kind::kAll);
  EXPECT_EQ(budget("4096").bytes, 4096u);
  EXPECT_EQ(budget("64KiB").bytes, 65536u);
  EXPECT_EQ(budget("8GiB").bytes, uint64_t{8} << 30);
  EXPECT_EQ(budget("2TiB").bytes, uint64_t{2} << 40);
  EXPECT_EQ(budget("12.5%").kind, Budget::Kind::kPercent);
  EXPECT_EQ(budget("12.5%").percent, 12.5);
}

TEST_F(PipelineTest, QuantizePresetsStandForGroups) {
  const Quantize q4 = of("model: { path: m, quantize: q4_0 }\n").model.quantize;
  EXPECT_EQ(q4.experts, COLIBRI_CODEC_Q4_0);
  EXPECT_EQ(q4.attention, COLIBRI_CODEC_Q4_0);
  EXPECT_EQ(q4.router, COLIBRI_CODEC_F32);
  EXPECT_EQ(q4.embedding, COLIBRI_CODEC_Q8_0);
  EXPECT_EQ(q4.head, COLIBRI_CODEC_Q8_0);
  const Quantize part = of("model: { path: m, quantize: { experts: q8_0 } }\n").model.quantize;
  EXPECT_EQ(part.experts, COLIBRI_CODEC_Q8_0);
  EXPECT_EQ(part.head, COLIBRI_CODEC_NONE);
}

TEST_F(PipelineTest, TextIsNeverGuessedAt) {
  const Pipeline p = of("model: { path: 010, format: yes }\nmetadata: { name: 1e3 }\n");
  EXPECT_EQ(p.model.path, "010");
  EXPECT_EQ(p.model.format, "yes");
  EXPECT_EQ(p.name, "1e3");
}

TEST_F(PipelineTest, StrongerDocumentsReplaceListsAndMergeMaps) {
  write("base.yaml",
        "model: { path: m, quantize: q8_0 }\ngenerate: { stop: [a, b], seed: 1 }\n"
        "plugins: { options: { x: { p: 1, q: 2 } } }\n");
  write("second.yaml", "generate: { seed: 2, max_tokens: 2 }\n");
  const Pipeline p =
      of("extends: [base.yaml, second.yaml]\ngenerate: { stop: [c], max_tokens: 3 }\n"
         "plugins: { options: { x: { q: 3 } } }\n");
  EXPECT_EQ(p.generate.stop, std::vector<std::string>{"c"});
  EXPECT_EQ(p.generate.seed, 2u);
  EXPECT_EQ(p.generate.max_tokens, 3u);
  EXPECT_EQ(p.plugins.options.at("x").find("p")->text, "1");
  EXPECT_EQ(p.plugins.options.at("x").find("q")->text, "3");
  EXPECT_EQ(p.model.quantize.experts, COLIBRI_CODEC_Q8_0);
  EXPECT_EQ(p.place("generate.seed"), "second.yaml:3:19: generate.seed");
  EXPECT_EQ(p.place("model.quantize"), "base.yaml:3:29: model.quantize");
}

TEST_F(PipelineTest, PathsAreRelativeToTheFileTheyStandIn) {
  write("sub/base.yaml", "model: { path: ../m, architecture: a.yaml }\nplugins: { search: [p] }\n");
  const Pipeline p = of("extends: [sub/base.yaml]\n", {{"plugins.search", "[q]"}});
  EXPECT_EQ(p.model.path, "m");
  EXPECT_EQ(p.model.architecture, "sub/a.yaml");
  EXPECT_EQ(p.plugins.search, std::vector<fs::path>{"q"});
  const Pipeline absolute = load(fs::current_path() / "sub/base.yaml");
  EXPECT_EQ(absolute.model.path, fs::current_path() / "m");
}

TEST_F(PipelineTest, OverridesAreStrongest) {
  const std::vector<Override> overrides = {
      {"generate.stop", "[\"END\", \"x: y\"]"},
      {"prompt.template", "Q: {input} [A]"},
      {"sampling.0.options.value", "0.5"},
      {"experts.budget", "40%"},
      {"model.quantize", "{ experts: q8_0 }"},
      {"tokenizer.options.cache", "16"},
      {"threads.count", "2", "-t"},
  };
  const Pipeline p =
      of("model: { path: m }\nsampling: [{ plugin: temperature, options: { value: 1 } }]\n"
         "threads: { count: 4 }\n",
         overrides);
  EXPECT_EQ(p.generate.stop, (std::vector<std::string>{"END", "x: y"}));
  EXPECT_EQ(p.prompt.text, "Q: {input} [A]");
  EXPECT_EQ(p.sampling[0].options.find("value")->text, "0.5");
  EXPECT_EQ(p.experts.budget.percent, 40);
  EXPECT_EQ(p.model.quantize.experts, COLIBRI_CODEC_Q8_0);
  EXPECT_EQ(p.tokenizer.options.find("cache")->text, "16");
  EXPECT_EQ(p.threads.count, 2u);
  EXPECT_EQ(p.place("threads.count"), "-t: threads.count");
  EXPECT_EQ(p.place("model.format"), "model.format (default)");
  EXPECT_EQ(p.place("sampling.0.options.other"), "p.yaml:4:44: sampling.0.options.other");
}

TEST_F(PipelineTest, EnvironmentVariablesAreText) {
  ::setenv("COLIBRI_TEST_COUNT", "4", 1);
  ::setenv("COLIBRI_TEST_TEXT", "a: [b] # c", 1);
  ::setenv("COLIBRI_TEST_EMPTY", "", 1);
  ::unsetenv("COLIBRI_TEST_UNSET");
  const Pipeline p =
      of("model: { path: \"m-${env:COLIBRI_TEST_COUNT}\" }\n"
         "metadata: { name: \"${env:COLIBRI_TEST_TEXT}\" }\n"
         "threads: { count: \"${env:COLIBRI_TEST_COUNT}\" }\n"
         "context: { max_tokens: \"${env:COLIBRI_TEST_UNSET:-32}\" }\n"
         "prompt: { template: \"$$5 ${env:COLIBRI_TEST_EMPTY:-x}$ $${env:X} {input}\" }\n");
  EXPECT_EQ(p.model.path, "m-4");
  EXPECT_EQ(p.name, "a: [b] # c");
  EXPECT_EQ(p.threads.count, 4u);
  EXPECT_EQ(p.context.max_tokens, 32u);
  EXPECT_EQ(p.prompt.text, "$5 $ ${env:X} {input}");
}

TEST_F(PipelineTest, PrintedValuesReadBackAndSayWhereTheyCameFrom) {
  ::setenv("COLIBRI_TEST_COUNT", "4", 1);
  write("base.yaml",
        "model: { path: m }\nprompt: { template: \"$${env:X}\\n{input} # \\\"q\\\"\" }\n");
  const Pipeline p =
      of("extends: [base.yaml]\nthreads: { count: \"${env:COLIBRI_TEST_COUNT}\" }\n"
         "sampling: [{ plugin: top_k, options: { k: 40, name: \"007\" } }]\n"
         "plugins: { options: { x: { y: -1 } } }\n",
         {{"generate.stop", "[a, \"null\"]"}});
  const std::string printed = print_with_origins(p.effective);
  EXPECT_NE(printed.find("count: 4 "), std::string::npos) << printed;
  EXPECT_NE(printed.find("# p.yaml:4:19, env COLIBRI_TEST_COUNT\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("# base.yaml:3:16\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("# --set\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("# default\n"), std::string::npos) << printed;

  std::ofstream("again.yaml") << printed;
  const Pipeline again = load("again.yaml");
  EXPECT_EQ(again.prompt.text, p.prompt.text);
  EXPECT_EQ(again.prompt.text, "${env:X}\n{input} # \"q\"");
  EXPECT_EQ(again.generate.stop, (std::vector<std::string>{"a", "null"}));
  EXPECT_EQ(again.threads.count, 4u);
  EXPECT_TRUE(again.sampling[0].options.find("name")->quoted);
  EXPECT_EQ(again.plugins.options.at("x").find("y")->text, "-1");
}

TEST_F(PipelineTest, AModelIsAPipelineOfDefaults) {
  const auto model =
      open_pipeline("models/m.colibri", std::vector<Override>{{"threads.count", "1"}});
  ASSERT_TRUE(model.ok()) << model.status().text();
  EXPECT_EQ(model->model.path, "models/m.colibri");
  EXPECT_EQ(model->threads.count, 1u);
  EXPECT_EQ(open_pipeline("none.yml").status().text(),
            "none.yml: cannot be opened: No such file or directory");
}

TEST_F(PipelineTest, OverridesAreSplitAtTheFirstEqualsSign) {
  const auto override_ = parse_override("prompt.template=a={input}");
  ASSERT_TRUE(override_.ok());
  EXPECT_EQ(override_->key, "prompt.template");
  EXPECT_EQ(override_->value, "a={input}");
  EXPECT_FALSE(parse_override("=1").ok());
  EXPECT_EQ(parse_override("threads").status().text(),
            "'threads' is no override; write key.path=value");
}

TEST(ShippedPipelines, Load) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("configs/pipelines")) {
    const auto pipeline = load_pipeline(entry.path());
    EXPECT_TRUE(pipeline.ok()) << pipeline.status().text();
    ++count;
  }
  EXPECT_GE(count, 2);
}

}  // namespace
}  // namespace colibri::config
