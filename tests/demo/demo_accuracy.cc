// SPDX-License-Identifier: Apache-2.0
// The share of test logs, never trained on, whose greedy answer is exactly the reference text.
//
//   colibri_demo_accuracy [--first N] [--at-least PERCENT]
//
// Prints "accuracy <type> <percent>" for the weights as stored (bf16), q8_0 and q4_0, through the
// pipelines of configs/pipelines. Run from the top of the source tree. Exit 1 if bf16 is below
// PERCENT, q8_0 more than 1 point below bf16, or q4_0 more than 5.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/engine/generator.h"
#include "runtime/engine/prompt.h"
#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

struct Log {
  std::string lang, log, answer;
};

std::vector<Log> read_logs(size_t first) {
  std::vector<Log> logs;
  std::ifstream file("tests/golden/demo/test_logs.jsonl");
  std::string line;
  while (logs.size() < first && std::getline(file, line)) {
    const auto json = nlohmann::json::parse(line);
    logs.push_back({json.at("lang"), json.at("log"), json.at("answer")});
  }
  return logs;
}

struct Loaded {
  std::unique_ptr<engine::Model> model;
  std::unique_ptr<engine::Context> context;
};

Result<Loaded> load(const std::string& lang, const std::string& quantize) {
  const std::string pipeline = lang == "zh" ? "plc_summary_zh" : "plc_summary";
  Loaded loaded;
  COLIBRI_ASSIGN(loaded.model, load_model("configs/pipelines/" + pipeline + ".yaml",
                                          {"model.quantize=" + quantize}));
  COLIBRI_ASSIGN(loaded.context, loaded.model->create_context(loaded.model->plan().max_tokens));
  return loaded;
}

Result<std::string> answer(const Loaded& loaded, const std::string& log) {
  const engine::Model& model = *loaded.model;
  const config::Pipeline& pipeline = model.plan().pipeline;
  COLIBRI_ASSIGN(const auto ids,
                 engine::encode_prompt(*model.tokenizer(), pipeline.prompt.text, log));
  COLIBRI_ASSIGN(engine::SamplerChain sampler, model.create_sampler());
  engine::Generator generator(*loaded.context, sampler, model.tokenizer(), model.spec().eos,
                              pipeline.generate.stop);
  std::string text;
  engine::GenerateResult result;
  COLIBRI_TRY(generator.run(
      ids, {pipeline.generate.max_tokens, pipeline.generate.seed}, {},
      [&](int32_t, std::string_view piece) {
        text += piece;
        return true;
      },
      &result));
  return text;
}

Result<double> accuracy(const std::vector<Log>& logs, const std::string& quantize) {
  std::map<std::string, Loaded> by_lang;
  for (const char* lang : {"en", "zh"}) {
    COLIBRI_ASSIGN(by_lang[lang], load(lang, quantize));
  }
  size_t right = 0;
  for (const Log& log : logs) {
    COLIBRI_ASSIGN(const std::string text, answer(by_lang.at(log.lang), log.log));
    if (text == log.answer) ++right;
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(logs.size());
}

int run(size_t first, double at_least) {
  const std::vector<Log> logs = read_logs(first);
  if (logs.empty()) {
    std::fprintf(stderr, "no test logs: run from the top of the source tree\n");
    return 2;
  }
  std::map<std::string, double> measured;
  for (const auto& [name, quantize] :
       {std::pair("bf16", "none"), std::pair("q8_0", "q8_0"), std::pair("q4_0", "q4_0")}) {
    const auto percent = accuracy(logs, quantize);
    if (!percent.ok()) {
      std::fprintf(stderr, "%s: %s\n", name, percent.status().text().c_str());
      return 1;
    }
    measured[name] = *percent;
    std::printf("accuracy %s %.1f\n", name, *percent);
    std::fflush(stdout);
  }
  const bool good = measured["bf16"] >= at_least && measured["q8_0"] >= measured["bf16"] - 1 &&
                    measured["q4_0"] >= measured["bf16"] - 5;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace colibri::test

int main(int argc, char** argv) {
  size_t first = SIZE_MAX;
  double at_least = 90;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--first") == 0) first = std::strtoul(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--at-least") == 0) at_least = std::strtod(argv[i + 1], nullptr);
  }
  return colibri::test::run(first, at_least);
}
